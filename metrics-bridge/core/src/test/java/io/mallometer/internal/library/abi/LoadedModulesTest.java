package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.internal.symbol.RecordedModule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoadedModulesTest {

  private static final RecordedModule LIBRARY = module(0x1000, "/lib/a.so");
  private static final RecordedModule OTHER = module(0x5000, "/lib/b.so");
  private static final long JAVA = Long.MIN_VALUE;

  private final List<RecordedModule> mapped = new ArrayList<>();
  private int readings;
  private long now = 5;
  private final LoadedModules modules =
      new LoadedModules(
          () -> {
            readings++;
            return List.copyOf(mapped);
          },
          () -> now);

  @Test
  void theLaterOfTwoAtOneAddressIsFound() {
    RecordedModule later = module(0x1000, "/lib/later.so");
    modules.add(List.of(LIBRARY, later));

    assertThat(modules.at(0x1fff)).contains(later);
    assertThat(modules.at(0x2000)).isEmpty();
  }

  @Test
  void alsoWhereTheOneBeforeWasFoundLast() {
    RecordedModule later = module(0x1000, "/lib/later.so");
    modules.add(List.of(LIBRARY));
    assertThat(modules.at(0x1fff)).contains(LIBRARY);
    modules.add(List.of(later));

    assertThat(modules.at(0x1fff)).contains(later);
  }

  @Test
  void whatTheLibraryNotedIsNotLookedForAmongMappings() {
    modules.add(List.of(LIBRARY));
    mapped.add(OTHER);

    assertThat(modules.at(0x5001)).isEmpty();
    assertThat(modules.withoutGeneratedCode(new long[] {0x5002, JAVA}))
        .containsExactly(0x5002, JAVA);
    assertThat(readings).isZero();
  }

  @Test
  void whereTheLibraryNotesNoneMappingsTell() {
    mapped.add(LIBRARY);

    assertThat(modules.at(0x1001)).contains(LIBRARY);
    assertThat(modules.at(0x1002)).contains(LIBRARY);
    assertThat(readings).isEqualTo(1);
  }

  @Test
  void mappingsAreReadAgainOnceASecondAtMost() {
    mapped.add(LIBRARY);
    modules.at(0x1001);
    mapped.add(OTHER);

    assertThat(modules.at(0x5001)).isEmpty();
    now += 1_000_000_000L;
    assertThat(modules.at(0x5001)).contains(OTHER);
    assertThat(readings).isEqualTo(2);
  }

  @Test
  void generatedCodeAndWhatSeemsToCallItIsLeftOut() {
    mapped.add(LIBRARY);

    assertThat(modules.withoutGeneratedCode(new long[] {0x1001, 0x9000, 0x1002, JAVA, JAVA + 1}))
        .containsExactly(0x1001, JAVA, JAVA + 1);
    assertThat(modules.withoutGeneratedCode(new long[] {0x1001, 0x1002, JAVA}))
        .containsExactly(0x1001, 0x1002, JAVA);
  }

  @Test
  void withoutMappingsStacksStayAsTheyAre() {
    assertThat(modules.withoutGeneratedCode(new long[] {0x1001, JAVA}))
        .containsExactly(0x1001, JAVA);
  }

  @Test
  void aModuleThatIsNewOrMappedNewChangesWhatAddressesMean() {
    modules.add(List.of());
    assertThat(modules.changes()).isZero();
    modules.add(List.of(LIBRARY));
    assertThat(modules.changes()).isEqualTo(1);
  }

  @Test
  void mappingsThatStayedChangeNothing() {
    mapped.add(LIBRARY);
    modules.at(0x1001);
    int before = modules.changes();
    now += 1_000_000_000L;
    modules.at(0x5001);
    assertThat(modules.changes()).isEqualTo(before);

    mapped.add(OTHER);
    now += 1_000_000_000L;
    modules.at(0x5001);
    assertThat(modules.changes()).isGreaterThan(before);
  }

  private static RecordedModule module(long begin, String path) {
    return new RecordedModule(begin, begin + 0x1000, begin, path, "");
  }
}
