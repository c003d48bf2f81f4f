package io.mallometer.internal.interposer;

import io.mallometer.Mallometer;
import io.mallometer.model.NativeCounters;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Executes itself once more, after what its first argument says, and tells what it then is. */
public final class RelaunchedProgram {

  private static final List<String> SHOWN = List.of("ODD=", "EMPTY=", "LD_PRELOAD=", "MALLOMETER_");

  private RelaunchedProgram() {}

  /** Runs. */
  public static void main(String[] arguments) throws Exception {
    System.out.println("begins " + ProcessHandle.current().pid());
    String reason = refused(arguments[0]);
    System.out.println("not relaunched [" + reason + "]");
    tellAsTheKernelKnowsIt();
    try (Mallometer mallometer = Mallometer.open()) {
      if (arguments[0].equals("attaches")) {
        mallometer.counting().attach();
      }
      System.out.println("mode " + mallometer.snapshot().self().mode());
      System.out.println(
          "allocations "
              + mallometer.snapshot().process().map(NativeCounters::allocations).orElse(0L));
    }
    System.out.println(
        "options with odd: "
            + ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-Dodd="))
                .count());
    System.out.println("input " + new String(System.in.readAllBytes(), StandardCharsets.UTF_8));
  }

  private static String refused(String before) throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    switch (before) {
      case "socket" -> {
        ServerSocket socket = new ServerSocket(0);
        String reason = Relaunch.execute(Relaunch.Caller.APPLICATION);
        socket.close();
        return reason;
      }
      case "child" -> {
        Process child = new ProcessBuilder("sleep", "60").start();
        String reason = Relaunch.execute(Relaunch.Caller.APPLICATION);
        child.destroyForcibly().waitFor();
        return reason;
      }
      case "thread", "daemon" -> {
        Thread thread = new Thread(() -> await(end), "worker");
        thread.setDaemon(before.equals("daemon"));
        thread.start();
        String reason = Relaunch.execute(Relaunch.Caller.APPLICATION);
        end.countDown();
        return reason;
      }
      case "reader" -> {
        Thread reader = new Thread(RelaunchedProgram::read, "reader");
        reader.setDaemon(true);
        reader.start();
        while (!Arrays.toString(reader.getStackTrace()).contains("FileInputStream.read")) {
          Thread.onSpinWait();
        }
        String reason = Relaunch.execute(Relaunch.Caller.APPLICATION);
        System.setIn(InputStream.nullInputStream());
        return reason;
      }
      case "input-read" -> {
        System.in.read();
        return Relaunch.execute(Relaunch.Caller.APPLICATION);
      }
      case "input-replaced", "input-closed" -> {
        byte[] input = System.in.readAllBytes();
        InputStream given = System.in;
        if (before.equals("input-closed")) {
          given.close();
        } else {
          System.setIn(new ByteArrayInputStream(input));
        }
        String reason = Relaunch.execute(Relaunch.Caller.APPLICATION);
        System.setIn(new ByteArrayInputStream(input));
        return reason;
      }
      case "other-thread" -> {
        String[] reason = {""};
        Thread thread = new Thread(() -> reason[0] = Relaunch.execute(Relaunch.Caller.APPLICATION));
        thread.start();
        thread.join();
        return reason[0];
      }
      default -> {
        return Relaunch.execute(Relaunch.Caller.APPLICATION);
      }
    }
  }

  private static void read() {
    try {
      System.in.read();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** In ASCII: whatever is not is shown by its number. */
  private static void tellAsTheKernelKnowsIt() throws IOException {
    for (String word : Relaunch.texts("cmdline")) {
      System.out.println("word [" + escaped(word) + "]");
    }
    for (String variable : Relaunch.texts("environ")) {
      if (SHOWN.stream().anyMatch(variable::startsWith)) {
        System.out.println("variable [" + escaped(variable) + "]");
      }
    }
    System.out.println("signals blocked " + RelaunchConditions.status("SigBlk"));
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        if (Files.exists(descriptor)) {
          System.out.println(
              "open " + descriptor.getFileName() + " " + Files.readSymbolicLink(descriptor));
        }
      }
    }
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    for (char c : text.toCharArray()) {
      escaped.append(c < 128 ? String.valueOf(c) : "%" + Integer.toHexString(c));
    }
    return escaped.toString();
  }
}
