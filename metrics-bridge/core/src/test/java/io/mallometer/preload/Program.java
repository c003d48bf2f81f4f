package io.mallometer.preload;

import io.mallometer.Mallometer;
import io.mallometer.NativeScope;
import io.mallometer.jmx.NativeMemoryMBeans;
import io.mallometer.model.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

public final class Program {

  private static final String DELETE = "delete=";

  private Program() {}

  /**
   * Deletes a file first if {@code delete=FILE} is given, and attaches the library if {@code
   * attach} is given.
   */
  public static void main(String[] arguments) throws Exception {
    for (String argument : arguments) {
      if (argument.startsWith(DELETE)) {
        Files.delete(Path.of(argument.substring(DELETE.length())));
      }
    }
    try (Mallometer mallometer = Mallometer.open();
        NativeMemoryMBeans beans = NativeMemoryMBeans.register(mallometer);
        NativeScope process = mallometer.counting().processScope();
        NativeScope thread = mallometer.counting().threadScope()) {
      boolean attaches = List.of(arguments).contains("attach");
      Status status = attaches ? mallometer.counting().attach() : polled(mallometer);
      System.out.println("state=" + status.state());
      System.out.println("reason=" + status.reason());
      System.out.println("remedy=" + status.remedy());
      System.out.println("sites=" + mallometer.sites().read().reason());
      System.out.println("process=" + process.figures().counts().isPresent());
      System.out.println("thread=" + thread.figures().counts().isPresent());
      System.out.println("bean=" + beans.registered());
      System.out.println("threads=" + mallometerThreads());
    }
    System.out.println("done");
  }

  private static Status polled(Mallometer mallometer) {
    mallometer.poll();
    return mallometer.status();
  }

  static List<String> mallometerThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("mallometer"))
        .toList();
  }
}
