package example;

import io.mallometer.Mallometer;

public class Program {
  public static void main(String[] arguments) {
    try (Mallometer mallometer = Mallometer.open()) {
      mallometer.counting().attach();
      System.out.println(mallometer.status());
    }
  }
}
