package lapstrake
