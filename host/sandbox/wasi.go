package sandbox

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// errnoNotsup is WASI's number for "not supported".
const errnoNotsup = 58

// instantiateWASI gives the guest the functions of WASI preview 1, without
// those that can do harm: fd_renumber to a large number makes the host's
// descriptor table grow to gigabytes, and there are no sockets.
func instantiateWASI(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(wasiModule)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(b)
	for _, name := range []string{"fd_renumber", "sock_accept", "sock_recv", "sock_send", "sock_shutdown"} {
		s, _ := wasiSignature(name)
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(refuse), valueTypesOf(s.params), valueTypesOf(s.results)).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func refuse(_ context.Context, stack []uint64) { stack[0] = errnoNotsup }

func valueTypesOf(letters string) []api.ValueType {
	types := make([]api.ValueType, len(letters))
	for i, l := range []byte(letters) {
		types[i] = api.ValueTypeI32
		if l == 'I' {
			types[i] = api.ValueTypeI64
		}
	}
	return types
}

// wasiSignature is the type of each function that a guest may import. A switch,
// so that no table is built when the program starts.
func wasiSignature(name string) (signature, bool) {
	params := ""
	switch name {
	case "proc_exit":
		return signature{params: "i"}, true
	case "sched_yield":
	case "fd_close", "fd_datasync", "fd_sync", "proc_raise":
		params = "i"
	case "args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get", "fd_fdstat_get",
		"fd_fdstat_set_flags", "fd_filestat_get", "fd_prestat_get", "fd_renumber", "fd_tell", "random_get", "sock_shutdown":
		params = "ii"
	case "fd_filestat_set_size":
		params = "iI"
	case "fd_prestat_dir_name", "path_create_directory", "path_remove_directory", "path_unlink_file", "sock_accept":
		params = "iii"
	case "clock_time_get":
		params = "iIi"
	case "fd_allocate", "fd_fdstat_set_rights":
		params = "iII"
	case "fd_read", "fd_write", "poll_oneoff":
		params = "iiii"
	case "fd_seek":
		params = "iIii"
	case "fd_advise", "fd_filestat_set_times":
		params = "iIIi"
	case "path_filestat_get", "path_symlink", "sock_send":
		params = "iiiii"
	case "fd_pread", "fd_pwrite", "fd_readdir":
		params = "iiiIi"
	case "path_readlink", "path_rename", "sock_recv":
		params = "iiiiii"
	case "path_link":
		params = "iiiiiii"
	case "path_filestat_set_times":
		params = "iiiiIIi"
	case "path_open":
		params = "iiiiiIIii"
	default:
		return signature{}, false
	}
	return signature{params, "i"}, true
}
