package io.mallometer.program;

import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;

/** An application without a dependency on mallometer. It leaks until input arrives. */
public final class DeflaterLeak {

  private static final List<Deflater> KEPT = new ArrayList<>();

  private DeflaterLeak() {}

  public static void main(String[] arguments) throws Exception {
    System.out.println("runs");
    while (System.in.available() == 0) {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[1_000]);
      deflater.finish();
      deflater.deflate(new byte[2_000]);
      KEPT.add(deflater);
      Thread.sleep(20);
    }
  }
}
