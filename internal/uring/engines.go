package uring

// Engines are those that are in this program, EngineRing first. Whether the kernel lets them, Open tells.
func Engines() []Engine {
	if giouringBuiltIn {
		return []Engine{EngineRing, EngineGiouring}
	}
	return []Engine{EngineRing}
}
