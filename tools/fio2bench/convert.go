package main

import (
	"errors"
	"fmt"
)

// convert turns the outputs of fio in data, which came from source, into rows. Rows are good even if there are errors.
func convert(source string, data []byte, reads int) (rows []row, errs []error) {
	docs, err := decode(data)
	if err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", source, err))
	}
	for _, doc := range docs {
		for i, j := range doc.Jobs {
			r, err := j.row(reads)
			if err == nil {
				err = alone(doc.Jobs, i)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: job %q left out: %w", source, j.Name, err))
				continue
			}
			rows = append(rows, r)
		}
	}
	return rows, errs
}

// alone returns an error if another job ran at the same time as job i, as jobs of one group do.
func alone(jobs []job, i int) error {
	for k, other := range jobs {
		switch {
		case k == i || other.Group != jobs[i].Group:
		case other.Name == jobs[i].Name:
			return errors.New("it is reported process by process: run fio with group_reporting")
		default:
			return fmt.Errorf("it ran at the same time as job %q: give each job section stonewall", other.Name)
		}
	}
	return nil
}
