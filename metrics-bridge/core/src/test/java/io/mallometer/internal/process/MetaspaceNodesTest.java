package io.mallometer.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class MetaspaceNodesTest {

  private static final long MIB = 1 << 20;
  private static final long KIB = 1 << 10;
  private static final long AT = 0x7f0010000000L;

  private final List<Mapping> mappings = new ArrayList<>();

  @Test
  void aNodeIsCommittedInGranules() {
    node(AT, 3 * MIB);

    assertThat(others(3 * MIB)).containsExactly(range(AT, 64 * MIB));
  }

  @Test
  void aNodeIsFoundBehindWhatWasMappedBelow() {
    mappings.add(committed(AT - 300 * KIB, AT + 3 * MIB));
    mappings.add(reserved(AT + 3 * MIB, AT + 64 * MIB));

    assertThat(others(3 * MIB)).containsExactly(range(AT, 64 * MIB));
  }

  @Test
  void fullNodesAreOneMapping() {
    mappings.add(committed(AT, AT + 200 * MIB));
    mappings.add(reserved(AT + 200 * MIB, AT + 256 * MIB));

    assertThat(others(200 * MIB))
        .containsExactly(
            range(AT, 64 * MIB),
            range(AT + 64 * MIB, 64 * MIB),
            range(AT + 128 * MIB, 64 * MIB),
            range(AT + 192 * MIB, 64 * MIB));
  }

  /**
   * A table of the collector begins where a node of metaspace could begin, but the JVM reports too
   * few committed bytes for such a node.
   */
  @Test
  void whatOnlyLooksLikeANodeIsNone() {
    node(AT, 20 * MIB);
    node(AT + 256 * MIB, 3 * MIB);

    assertThat(others(3 * MIB)).containsExactly(range(AT + 256 * MIB, 64 * MIB));
  }

  /**
   * The JVM loads classes after the mappings are read, and before it reports its metaspace sizes.
   */
  @Test
  void theAccountMayBeAheadOfTheMappings() {
    node(AT, 20 * MIB);
    node(AT + 256 * MIB, 3 * MIB);

    assertThat(others(3 * MIB + 320 * KIB)).containsExactly(range(AT + 256 * MIB, 64 * MIB));
  }

  @Test
  void withoutAnAccountWhatBeginsAMappingIsANode() {
    node(AT, 3 * MIB);
    mappings.add(committed(AT + 512 * MIB - 64 * KIB, AT + 514 * MIB));
    mappings.add(reserved(AT + 514 * MIB, AT + 576 * MIB));

    assertThat(MetaspaceNodes.others(mappings, account(OptionalLong.empty())))
        .containsExactly(range(AT, 64 * MIB));
  }

  @Test
  void theClassSpaceMayBeginWithAProtectedGranule() {
    mappings.add(Mappings.of(AT, AT + 64 * KIB, "---p", "", 0, false));
    mappings.add(committed(AT + 64 * KIB, AT + 640 * KIB));
    mappings.add(reserved(AT + 640 * KIB, AT + 1024 * MIB));

    assertThat(
            MetaspaceNodes.classSpace(
                mappings,
                new Metadata(
                    OptionalLong.of(1024 * MIB), OptionalLong.of(576 * KIB), OptionalLong.empty())))
        .containsExactly(range(AT, 1024 * MIB));
  }

  /**
   * The search for nodes that add up to the committed bytes must end, although it cannot try all
   * combinations.
   */
  @Test
  void manyCandidatesTakeNoTime() {
    for (int i = 0; i < 200; i++) {
      node(AT + i * 256 * MIB, (i % 50 + 1) * 64 * KIB + 4 * KIB);
    }

    assertThat(others(333 * MIB)).isNotNull();
  }

  private List<Range> others(long committed) {
    return MetaspaceNodes.others(mappings, account(OptionalLong.of(committed)));
  }

  private static Metadata account(OptionalLong others) {
    return new Metadata(OptionalLong.empty(), OptionalLong.empty(), others);
  }

  private void node(long at, long committed) {
    mappings.add(committed(at, at + committed));
    mappings.add(reserved(at + committed, at + 64 * MIB));
  }

  private static Range range(long start, long bytes) {
    return new Range(start, start + bytes);
  }

  private static Mapping committed(long start, long end) {
    return Mappings.of(start, end, "rw-p", "", end - start, false);
  }

  private static Mapping reserved(long start, long end) {
    return Mappings.of(start, end, "---p", "", 0, true);
  }
}
