package io.mallometer.internal.library.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.mallometer.internal.leak.evidence.SampledObject;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResidentSharesTest {

  private static final long PAGE = PageTable.PAGE;
  private static final long PRESENT = 1L << 63;
  private static final long SWAPPED = 1L << 62;
  private static final int MOST = 70_000;
  private static final int LAST_PAGE = 500_000;

  @TempDir private Path directory;
  private final ByteBuffer objects = Structs.allocate(MOST * Abi.Object.BYTES);
  private int count;

  @Test
  void bytesOnPresentPagesAreResident() throws IOException {
    present(10, 12);
    add(1, 10 * PAGE, PAGE, 1);
    add(2, 13 * PAGE, PAGE, 1);
    add(3, 11 * PAGE + PAGE / 2, PAGE, 1);

    ResidentShares shares = read();

    assertThat(shares.share(1)).isEqualTo(1);
    assertThat(shares.share(2)).isZero();
    assertThat(shares.share(3)).isEqualTo(0.5);
  }

  @Test
  void samplesHaveTheWeightOfTheObjectsThatTheyStandFor() throws IOException {
    present(10, 11);
    add(1, 10 * PAGE, 100, 0.1);
    add(1, 20 * PAGE, 250, 0.25);

    assertThat(read().share(1)).isEqualTo(0.5);
  }

  @Test
  void swappedPagesAreNotResident() throws IOException {
    entries(10, 11, SWAPPED);
    add(1, 10 * PAGE, PAGE, 1);

    assertThat(read().share(1)).isZero();
  }

  /**
   * A slot is a page of its own for a sample. A small sample in a slot counts as resident, because
   * it stands for small objects on pages that the allocator has already used.
   */
  @Test
  void aSmallSampleInASlotIsResidentAndALargeOneByItsPages() throws IOException {
    present(10, 11);
    add(1, 20 * PAGE, PAGE, 1, 0.5);
    add(2, 30 * PAGE, ResidentShares.SINGLY_MAPPED, 1, 0.5);

    ResidentShares shares = read();

    assertThat(shares.share(1)).isEqualTo(1);
    assertThat(shares.share(2)).isZero();
  }

  /**
   * The library copies the samples in slots (pages of their own) before all other samples. A
   * reading that visits a part of the samples must visit both kinds equally often.
   */
  @Test
  void ofVeryManySamplesThoseInSlotsAreVisitedNoMoreOftenThanOthers() throws IOException {
    for (int i = 0; i < 12_000; i++) {
      add(1, (20L + i) * PAGE, PAGE, 1, i < 6_000 ? 0.5 : 0);
    }

    assertThat(read().share(1)).isEqualTo(0.5, within(0.01));
  }

  @Test
  void aSiteWithoutAVisitedSampleHasTheShareOfAll() throws IOException {
    present(10, 11);
    add(1, 10 * PAGE, PAGE, 1);
    add(2, 20 * PAGE, PAGE, 1 / 3.0);

    assertThat(read().share(3)).isEqualTo(0.25);
  }

  @Test
  void anObjectOfNoBytesHasAnUnknownShare() throws IOException {
    present(10, 11);
    add(1, 10 * PAGE, 0, 1);

    assertThat(read().share(1)).isNaN();
  }

  @Test
  void largeObjectsAreJudgedByAPartOfTheirPages() throws IOException {
    present(16, 16 + 100_000);
    for (int site = 0; site < 8; site++) {
      add(site, 16 * PAGE, 400_000 * PAGE, 1);
    }

    ResidentShares shares = read();

    for (int site = 0; site < 8; site++) {
      assertThat(shares.share(site)).isCloseTo(0.25, within(0.01));
    }
  }

  @Test
  void ofVeryManySamplesEachSiteHasSome() throws IOException {
    present(100, 200);
    for (int i = 0; i < 60_000; i++) {
      add(1, (100 + i % 200) * PAGE, 64, 0.5);
    }
    for (int site = 2; site < 1_000; site++) {
      add(site, 100 * PAGE, 64, 0.5);
    }

    ResidentShares shares = read();

    assertThat(shares.share(1)).isCloseTo(0.5, within(0.1));
    assertThat(shares.share(999)).isEqualTo(1);
  }

  @Test
  void aSiteInThePlaceOfAForgottenOneHasItsOwnShare() throws IOException {
    present(10, 11);
    int later = 1 + 3 * SampledObject.MOST_SITES;
    add(later, 10 * PAGE, PAGE, 1);

    assertThat(read().share(later)).isEqualTo(1);
  }

  @Test
  void pagesMayBecomeResidentBetweenTwoReadings() throws IOException {
    add(1, 10 * PAGE, PAGE, 1);
    ResidentShares shares = read();
    assertThat(shares.share(1)).isZero();
    present(10, 11);

    shares.read(objects, count);

    assertThat(shares.share(1)).isEqualTo(1);
  }

  @Test
  void withoutSamplesAnEarlierShareIsForgotten() throws IOException {
    present(10, 11);
    add(1, 10 * PAGE, PAGE, 1);
    ResidentShares shares = read();

    shares.read(objects, 0);

    assertThat(shares.share(1)).isNaN();
  }

  @Test
  void withoutPageTableAllIsUnknown() {
    add(1, 10 * PAGE, PAGE, 1);
    ResidentShares shares = new ResidentShares(directory.resolve("none").toString());

    shares.read(objects, count);

    assertThat(shares.share(1)).isNaN();
  }

  @Test
  void aPageTableThatEndsTooSoonMakesAllUnknown() throws IOException {
    Files.write(pagemap(), new byte[8]);
    add(1, 10 * PAGE, PAGE, 1);
    ResidentShares shares = new ResidentShares(pagemap().toString());

    shares.read(objects, count);

    assertThat(shares.share(1)).isNaN();
  }

  private ResidentShares read() throws IOException {
    entries(LAST_PAGE, LAST_PAGE + 1, 0);
    ResidentShares shares = new ResidentShares(pagemap().toString());
    shares.read(objects, count);
    return shares;
  }

  private void present(int first, int behind) throws IOException {
    entries(first, behind, PRESENT);
  }

  private void entries(int first, int behind, long entry) throws IOException {
    ByteBuffer entries = ByteBuffer.allocate((behind - first) * 8).order(ByteOrder.nativeOrder());
    while (entries.hasRemaining()) {
      entries.putLong(entry);
    }
    try (RandomAccessFile file = new RandomAccessFile(pagemap().toFile(), "rw")) {
      file.seek(first * 8L);
      file.write(entries.array());
    }
  }

  private Path pagemap() {
    return directory.resolve("pagemap");
  }

  private void add(int site, long address, long bytes, double probability) {
    add(site, address, bytes, probability, 0);
  }

  private void add(int site, long address, long bytes, double probability, double placement) {
    int at = count++ * Abi.Object.BYTES;
    objects.putLong(at + Abi.Object.BYTES_AT, bytes);
    objects.putDouble(at + Abi.Object.PROBABILITY_AT, probability);
    objects.putInt(at + Abi.Object.SITE_AT, site);
    objects.putLong(at + Abi.Object.INVERTED_ADDRESS_AT, ~address);
    objects.putDouble(at + Abi.Object.PLACEMENT_AT, placement);
  }
}
