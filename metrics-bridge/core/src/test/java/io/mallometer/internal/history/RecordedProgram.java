package io.mallometer.internal.history;

import io.mallometer.Mallometer;
import io.mallometer.model.MallometerOptions;
import io.mallometer.model.RecordingStatus;
import io.mallometer.model.Setting;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A program that mallometer records, and that ends in one of several ways. */
public final class RecordedProgram {

  private static final int MIB = 1 << 20;

  private RecordedProgram() {}

  /**
   * Runs until it exits or is killed. The first argument is {@code exit}, {@code leak}, {@code
   * hang} or {@code wait}. The second argument of {@code leak} is the pause after each leaked MiB,
   * in milliseconds. The second argument of {@code hang} is a file that a Java thread touches every
   * 50 ms until the JVM stops all Java threads.
   */
  public static void main(String[] arguments) throws Exception {
    Mallometer mallometer =
        Mallometer.open(
            MallometerOptions.defaults().with(Setting.POLL_INTERVAL, Duration.ofMillis(200)));
    while (mallometer.history().recording().state() == RecordingStatus.State.OFF) {
      Thread.sleep(20);
    }
    System.out.println("recording=" + mallometer.history().recording().state());
    System.out.println("reason=" + mallometer.history().recording().reason());
    switch (arguments[0]) {
      case "exit" -> System.exit(7);
      case "leak" -> leak(Long.parseLong(arguments[1]));
      case "hang" -> hang(Path.of(arguments[1]));
      default -> Thread.sleep(Long.MAX_VALUE);
    }
  }

  private static void leak(long pauseMillis) throws InterruptedException {
    List<ByteBuffer> held = new ArrayList<>();
    while (true) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(MIB);
      for (int at = 0; at < buffer.capacity(); at += 4096) {
        buffer.put(at, (byte) 1);
      }
      held.add(buffer);
      Thread.sleep(pauseMillis);
    }
  }

  /**
   * Prints until printing blocks, because nobody reads the output. The test then requests a thread
   * dump. The JVM stops all Java threads for the dump, and blocks when it prints the dump.
   */
  private static void hang(Path heartbeat) throws Exception {
    beat(heartbeat);
    Thread printer = new Thread(() -> fill(heartbeat));
    printer.setDaemon(true);
    printer.start();
    do {
      printed = 0;
      Thread.sleep(500);
    } while (printed > 0);
    Files.createFile(Path.of(heartbeat + ".full"));
    Thread.sleep(Long.MAX_VALUE);
  }

  private static volatile int printed;

  private static void fill(Path heartbeat) {
    while (true) {
      System.out.println(heartbeat);
      printed = 1;
    }
  }

  private static void beat(Path heartbeat) {
    Thread thread =
        new Thread(
            () -> {
              while (true) {
                try {
                  Files.setLastModifiedTime(heartbeat, FileTime.from(Instant.now()));
                  Thread.sleep(50);
                } catch (Exception e) {
                  return;
                }
              }
            });
    thread.setDaemon(true);
    thread.start();
  }
}
