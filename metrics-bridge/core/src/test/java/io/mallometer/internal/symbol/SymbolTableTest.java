package io.mallometer.internal.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class SymbolTableTest {

  private static final int LOCAL = 0x02;
  private static final int GLOBAL = 0x12;
  private static final int WEAK = 0x22;
  private static final int GLOBAL_INDIRECT = 0x1a;
  private static final int GLOBAL_OBJECT = 0x11;

  private final SymbolTable.Builder builder = new SymbolTable.Builder(1 << 16);
  private final StringBuilder names = new StringBuilder("\0");

  @Test
  void anAddressBelongsToTheFunctionAroundIt() {
    add(GLOBAL, 0x1000, 0x10, "first");
    add(LOCAL, 0x1020, 0x10, "second");
    SymbolTable table = build();

    assertThat(table.at(0x0fff)).isEmpty();
    assertThat(name(table, 0x1000)).isEqualTo("first");
    assertThat(name(table, 0x100f)).isEqualTo("first");
    assertThat(table.at(0x1010)).isEmpty();
    assertThat(table.at(0x1020)).contains(new SymbolTable.Symbol("second", 0x1020));
    assertThat(table.at(0x1030)).isEmpty();
    assertThat(table.at(-1)).isEmpty();
    assertThat(table.at(Long.MAX_VALUE)).isEmpty();
  }

  @Test
  void aFunctionWithoutASizeReachesToTheNext() {
    add(GLOBAL, 0x1000, 0, "assembled");
    add(GLOBAL, 0x1100, 0x10, "next");
    SymbolTable table = build();

    assertThat(name(table, 0x10ff)).isEqualTo("assembled");
    assertThat(name(table, 0x1100)).isEqualTo("next");
  }

  @Test
  void aFunctionWithoutASizeReachesNoFurtherThanAPage() {
    add(GLOBAL, 0x1800, 0, "assembled");
    SymbolTable table = build();

    assertThat(name(table, 0x27ff)).isEqualTo("assembled");
    assertThat(table.at(0x2800)).isEmpty();
  }

  @Test
  void functionsOnThePagesOfWhatIsAskedForAndRightBeforeThemAreNear() {
    SymbolTable.Builder asking =
        new SymbolTable.Builder(1 << 16, new long[] {-1, 0x10, 0x5800, 1L << 40});

    assertThat(asking.isNear(0)).isTrue();
    assertThat(asking.isNear(1)).isFalse();
    assertThat(asking.isNear(3)).isFalse();
    assertThat(asking.isNear(4)).isTrue();
    assertThat(asking.isNear(5)).isTrue();
    assertThat(asking.isNear(6)).isFalse();
    assertThat(new SymbolTable.Builder(1 << 16, new long[] {-1}).isNear(7)).isFalse();
    assertThat(builder.isNear(6)).isTrue();
  }

  @Test
  void aFunctionGoesOnBehindAnotherInIt() {
    add(GLOBAL, 0x1000, 0x100, "outer");
    add(LOCAL, 0x1010, 0x10, "inner");
    SymbolTable table = build();

    assertThat(name(table, 0x1010)).isEqualTo("inner");
    assertThat(name(table, 0x1020)).isEqualTo("outer");
  }

  @Test
  void ofSeveralSymbolsTheOneThatPeopleKnowIsKept() {
    add(LOCAL, 0x1000, 0x10, "impl");
    add(WEAK, 0x1000, 0, "sizeless");
    add(GLOBAL, 0x1000, 0x10, "__libc_malloc");
    add(WEAK, 0x1000, 0x10, "malloc");
    add(GLOBAL, 0x1000, 0x10, "malloc_of_long_name");
    SymbolTable table = build();

    assertThat(table.size()).isEqualTo(1);
    assertThat(name(table, 0x1000)).isEqualTo("malloc");
  }

  @Test
  void onlyFunctionsAreKept() {
    add(GLOBAL_OBJECT, 0x1000, 0x10, "data");
    add(GLOBAL_INDIRECT, 0x2000, 0x10, "memcpy");
    SymbolTable table = build();

    assertThat(table.at(0x1000)).isEmpty();
    assertThat(name(table, 0x2000)).isEqualTo("memcpy");
  }

  @Test
  void eachTableHasItsOwnNames() {
    names.append("x".repeat(100_000)).append('\0');
    add(LOCAL, 0x1000, 0x10, "of_the_first");
    builder.name(bytes(names.toString()), 0, names.length());
    builder.add(GLOBAL, 0x2000, 0x10, 1);
    builder.name(bytes("\0of_the_second\0"), 0, 15);
    SymbolTable table = builder.build();

    assertThat(name(table, 0x1000)).isEqualTo("of_the_first");
    assertThat(name(table, 0x2000)).isEqualTo("of_the_second");
  }

  @Test
  void functionsWhoseNamesDoNotFitAreLeftOut() {
    SymbolTable.Builder small = new SymbolTable.Builder(16);
    small.add(GLOBAL, 0x1000, 0x10, 1);
    small.add(GLOBAL, 0x2000, 0x10, 7);
    small.name(bytes("\0short\0and this is a long one\0"), 0, 30);
    SymbolTable table = small.build();

    assertThat(name(table, 0x1000)).isEqualTo("short");
    assertThat(table.at(0x2000)).isEmpty();
  }

  @Test
  void aTableForSomeAddressesHasTheSameFunctions() {
    SymbolTable.Builder asking =
        new SymbolTable.Builder(1 << 16, new long[] {0x0fff, 0x1018, 0x1020, 0x2080, 0x3008});
    String text = "\0outer\0inner\0assembled\0small\0far\0";
    asking.add(GLOBAL, 0x4000, 0x10, text.indexOf("far"));
    asking.add(GLOBAL, 0x1000, 0x100, text.indexOf("outer"));
    asking.add(LOCAL, 0x1010, 0x10, text.indexOf("inner"));
    asking.add(GLOBAL, 0x2000, 0, text.indexOf("assembled"));
    asking.add(GLOBAL, 0x3000, 0x8, text.indexOf("small"));
    asking.name(bytes(text), 0, text.length());
    SymbolTable table = asking.build();

    assertThat(name(table, 0x0fff)).isEqualTo("none");
    assertThat(name(table, 0x1018)).isEqualTo("inner");
    assertThat(name(table, 0x1020)).isEqualTo("outer");
    assertThat(name(table, 0x2080)).isEqualTo("assembled");
    // The function "assembled" has no size, so it ends where "small" begins; "small" ends at
    // 0x3008.
    assertThat(name(table, 0x3008)).isEqualTo("none");
    assertThat(table.size()).isEqualTo(3);
    assertThat(table.answers(0x1018)).isTrue();
    assertThat(table.answers(0x1019)).isFalse();
  }

  private void add(int info, long address, long size, String name) {
    builder.add(info, address, size, names.length());
    names.append(name).append('\0');
  }

  private SymbolTable build() {
    builder.name(bytes(names.toString()), 0, names.length());
    return builder.build();
  }

  private static String name(SymbolTable table, long address) {
    return table.at(address).map(SymbolTable.Symbol::name).orElse("none");
  }

  private static Bytes bytes(String text) {
    return new ArrayBytes(text.getBytes(StandardCharsets.US_ASCII), 0);
  }
}
