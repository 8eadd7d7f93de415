// Package directio opens files for reads that bypass the page cache. Whether they do the runner verifies, by what the device
// delivers.
package directio
