/* The barrier by membarrier(2). See barrier.h. */
#include "platform/barrier.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "platform/arch.h"
#include "platform/keep_errno.h"

/* Constants of linux/membarrier.h, which older systems do not have. */
#define MEMBARRIER_GLOBAL 1
#define MEMBARRIER_PRIVATE_EXPEDITED 8
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED 16

void barrier_for_all_threads(void) {
  if (LOADS_STAY_IN_ORDER) return;
  KEEP_ERRNO;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (syscall(SYS_membarrier, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0 ||
      syscall(SYS_membarrier, MEMBARRIER_PRIVATE_EXPEDITED, 0, 0) != 0) {
    (void)syscall(SYS_membarrier, MEMBARRIER_GLOBAL, 0, 0);
  }
}
