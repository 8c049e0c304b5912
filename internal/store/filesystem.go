package store

import (
	"fmt"

	"golang.org/x/sys/unix"
)

type statfsFunc func(path string) (unix.Statfs_t, error)

func statfs(path string) (unix.Statfs_t, error) {
	var st unix.Statfs_t
	err := unix.Statfs(path, &st)
	return st, err
}

// networkTypes are the file systems on which flock may not reach the other
// machines, or may forget. FUSE is among them because its type does not tell
// sshfs from a local one.
var networkTypes = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "CIFS",
	unix.SMB2_SUPER_MAGIC: "SMB2", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS",
	unix.AFS_FS_MAGIC: "AFS", unix.CODA_SUPER_MAGIC: "Coda", unix.V9FS_MAGIC: "9p", unix.NCP_SUPER_MAGIC: "NCP",
	unix.FUSE_SUPER_MAGIC: "FUSE", unix.OCFS2_SUPER_MAGIC: "OCFS2", 0x0BD00BD0: "Lustre",
	0x01161970: "GFS2", 0x47504653: "GPFS", 0x786F4256: "vboxsf",
}

// checkFilesystem refuses what documents cannot be kept on, and reports whether
// other machines may be using it at this moment.
func checkFilesystem(path string, stat statfsFunc, allowNetwork bool) (shared bool, err error) {
	st, err := stat(path)
	if err != nil {
		return false, fmt.Errorf("inspect file system of %s: %w", path, err)
	}
	if st.Flags&unix.ST_RDONLY != 0 {
		return false, fmt.Errorf("%w: %s", ErrReadOnly, path)
	}
	// Type is 32 bits wide in the kernel; sign extension would hide the large ones.
	name, network := networkTypes[int64(uint32(st.Type))]
	if network && !allowNetwork {
		return false, fmt.Errorf("%w (%s): %s; locks are not reliable there unless you allow it", ErrNetworkFS, name, path)
	}
	return network, nil
}
