package io.mallometer.benchmarks;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/** A tool whose states can be changed in the running process. */
interface Switch {
  /**
   * Changes the state.
   *
   * @throws IllegalStateException if the tool refuses
   */
  void to(String state);

  /** Returns how many events the tool has seen since the process started; 0 if it does not say. */
  default long events() {
    return 0;
  }

  /** Returns the tool of a name; {@code path} is its library's. */
  static Switch of(String tool, String path) {
    return switch (tool) {
      case "none" -> state -> {};
      case "mallometer" -> new Mallometer(NativeLibrary.getProcess());
      case "async-profiler" -> new AsyncProfiler(NativeLibrary.getInstance(path));
      case "jemalloc" -> new Jemalloc(NativeLibrary.getProcess());
      default -> throw new IllegalArgumentException("no tool " + tool);
    };
  }

  /** The states {@code off}, {@code counting} (without samples) and {@code on} (as configured). */
  final class Mallometer implements Switch {
    private static final int SAMPLE_INTERVAL = 2;
    private static final long DEFAULT_INTERVAL = 512 << 10;
    private static final int COUNTERS_BYTES = 184;
    private static final int ALLOCATIONS = 24;
    private static final int SIZE_CLASSES = 20;
    private final Function enable;
    private final Function disable;
    private final Function configure;
    private final Function snapshot;
    private final Memory counters = new Memory(COUNTERS_BYTES);

    Mallometer(NativeLibrary process) {
      enable = process.getFunction("mallometer_enable");
      disable = process.getFunction("mallometer_disable");
      configure = process.getFunction("mallometer_configure");
      snapshot = process.getFunction("mallometer_snapshot");
    }

    @Override
    public void to(String state) {
      switch (state) {
        case "off" -> check(disable.invokeInt(new Object[0]));
        case "counting" -> count(0);
        case "on" -> count(DEFAULT_INTERVAL);
        default -> throw new IllegalArgumentException(state);
      }
    }

    private void count(long interval) {
      check(configure.invokeInt(new Object[] {SAMPLE_INTERVAL, interval}));
      check(enable.invokeInt(new Object[0]));
    }

    @Override
    public long events() {
      counters.setInt(0, COUNTERS_BYTES);
      check(snapshot.invokeInt(new Object[] {counters, 0}));
      long sum = 0;
      for (int i = 0; i < SIZE_CLASSES; i++) {
        sum += counters.getLong(ALLOCATIONS + 8L * i);
      }
      return sum;
    }

    private static void check(int result) {
      if (result != 0) {
        throw new IllegalStateException("libmallometer answers " + result);
      }
    }
  }

  /** The state {@code off}, and others which are options such as {@code nativemem=512k}. */
  final class AsyncProfiler implements Switch {
    private final Function execute;
    private final Function message;
    private boolean runs;

    AsyncProfiler(NativeLibrary library) {
      library.getFunction("asprof_init").invokeVoid(new Object[0]);
      execute = library.getFunction("asprof_execute");
      message = library.getFunction("asprof_error_str");
    }

    @Override
    public void to(String state) {
      if (runs) {
        execute("stop");
      }
      runs = !state.equals("off");
      if (runs) {
        execute("start," + state.replace('+', ',') + ",file=profile.jfr");
      }
    }

    private void execute(String command) {
      Pointer error = execute.invokePointer(new Object[] {command, Pointer.NULL});
      if (error != null) {
        throw new IllegalStateException(
            command + ": " + message.invokeString(new Object[] {error}, false));
      }
    }
  }

  /** The states {@code off} and {@code on} of jemalloc's profiler. */
  final class Jemalloc implements Switch {
    private final Function control;
    private final Memory value = new Memory(1);

    Jemalloc(NativeLibrary process) {
      control = process.getFunction("mallctl");
    }

    @Override
    public void to(String state) {
      value.setByte(0, (byte) (state.equals("on") ? 1 : 0));
      Object[] arguments = {"prof.active", Pointer.NULL, Pointer.NULL, value, 1L};
      int error = control.invokeInt(arguments);
      if (error != 0) {
        throw new IllegalStateException("mallctl(prof.active) answers " + error);
      }
    }
  }
}
