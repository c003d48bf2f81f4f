package io.mallometer.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class StackTreeTest {

  private static final StackFrame RUN = StackFrame.ofJava("org.Runner", "run", "Runner.java", 1);
  private static final StackFrame TEST =
      StackFrame.ofJava(StackTreeTest.class.getName(), "leaks", "StackTreeTest.java", 5);
  private static final StackFrame LAMBDA =
      StackFrame.ofJava(StackTreeTest.class.getName() + "$$Lambda", "run", "", 0);
  private static final StackFrame CALL =
      StackFrame.ofJava("java.lang.invoke.Handle", "call", "Handle.java", 1);
  private static final StackFrame INIT = StackFrame.ofLibrary("libz.so", "init", 31);
  private static final StackFrame GROW = StackFrame.ofLibrary("libz.so", "grow", 7);

  @Test
  void stacksBeginAtTheTestAndDivideWhereTheyDiffer() {
    String tree =
        StackTree.of(
            List.of(
                new Kept(List.of(INIT, CALL, LAMBDA, TEST, RUN), 2048, 2),
                new Kept(List.of(GROW, LAMBDA, TEST, RUN), 1024, 1),
                new Kept(List.of(INIT, RUN), 100, 1)),
            StackTreeTest.class);
    String test = StackTreeTest.class.getName();
    assertThat(tree.lines())
        .containsExactly(
            "   3.0 KiB        3 x  " + test + ".leaks(StackTreeTest.java:5)",
            "                       " + test + "$$Lambda.run",
            "   2.0 KiB        2 x  ├─ libz.so!init",
            "   1.0 KiB        1 x  └─ libz.so!grow",
            "     100 B        1 x  org.Runner.run(Runner.java:1)",
            "                       libz.so!init");
  }

  @Test
  void whatHoldsLeastIsSummedUp() {
    List<Kept> kept = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      kept.add(new Kept(List.of(StackFrame.ofLibrary("lib" + i, "", 0), TEST), 100 * i, 1));
    }
    assertThat(StackTree.of(kept, StackTreeTest.class).lines())
        .endsWith("     300 B        1 x  ├─ lib3", "     300 B        2 x  └─ 2 more");
  }

  @Test
  void siteWithoutAStackIsShownAsSuch() {
    assertThat(StackTree.of(List.of(new Kept(List.of(), 100, 1)), StackTreeTest.class))
        .isEqualTo("     100 B        1 x  [no stack]");
  }
}
