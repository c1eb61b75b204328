package memory_test

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/runstate/runstatetest"
)

func open(*testing.T) runstate.Table { return memory.NewSharded(2) }

func TestTable(t *testing.T) { runstatetest.Run(t, open) }
