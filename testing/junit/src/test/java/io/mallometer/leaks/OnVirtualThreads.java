package io.mallometer.leaks;

import com.sun.jna.Native;
import io.mallometer.junit.ExpectMaxNative;
import io.mallometer.junit.ExpectNativeFreed;
import io.mallometer.junit.ExpectNoNativeGrowth;
import io.mallometer.junit.MonitorNative;
import io.mallometer.junit.NativeMemory;
import io.mallometer.junit.NativeMemoryExtension;
import io.mallometer.junit.Of;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Tests that run and are measured on a virtual thread. {@code VirtualThreadTest} runs them. */
@ExtendWith(OnVirtualThreads.Virtually.class)
public class OnVirtualThreads {

  static final class Virtually implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> call,
        ExtensionContext context)
        throws Throwable {
      run(
          () -> {
            try {
              return invocation.proceed();
            } catch (Exception | Error e) {
              throw e;
            } catch (Throwable e) {
              throw new AssertionError(e);
            }
          });
    }
  }

  private static void run(Callable<Void> work) throws Throwable {
    FutureTask<Void> task = new FutureTask<>(work);
    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    try {
      task.get();
    } catch (ExecutionException e) {
      throw e.getCause();
    }
  }

  @Test
  @ExpectMaxNative(calls = 10)
  void counts() {
    Native.free(Native.malloc(1024));
  }

  @Test
  @MonitorNative(of = Of.TEST)
  void isMonitored() {}

  @Test
  @MonitorNative(threshold = 20 << 20)
  void isMonitoredWithTheProcess() {
    Native.free(Native.malloc(30 << 20));
  }

  @Test
  @ExtendWith(NativeMemoryExtension.class)
  void measures(NativeMemory memory) {
    memory.assertThat(() -> Native.free(Native.malloc(1024))).callsAtMost(10);
  }

  @Test
  @ExpectMaxNative(bytes = 500_000, of = Of.PROCESS)
  void countsTheProcess() {
    Native.free(Native.malloc(1_000_000));
  }

  @Test
  @ExpectNativeFreed
  void leavesSomething() {
    Native.malloc(1024);
  }

  @Test
  @ExpectNoNativeGrowth
  void leaks() {
    Native.malloc(1024);
  }

  @Test
  @ExpectNoNativeGrowth
  void isClean() {
    Native.free(Native.malloc(1024));
  }
}
