package io.mallometer.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mallometer.model.CallSite;
import io.mallometer.model.CallSites;
import io.mallometer.model.StackFrame;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
@Tag("any-jdk")
class FlameGraphReportTest {

  private static final int ROW = 20;

  /** The least contrast that WCAG 2.1, level AA, requires of text as small as in the boxes. */
  private static final double LEAST_CONTRAST = 4.5;

  private static final Path PICTURES = Path.of("target", "flamegraph");

  @TempDir static Path directory;
  private static Chromium browser;

  @BeforeAll
  static void start() throws Exception {
    Chromium.mustBeThere();
    browser = Chromium.start(directory);
  }

  @AfterAll
  static void stop() throws Exception {
    if (browser != null) {
      browser.close();
    }
  }

  @Test
  void drawsWidthsAsSharesOfWhatIsLive() throws Exception {
    open(ExampleSites.service());

    assertThat(browser.text("#status")).isEqualTo("all: total 4.5 MiB (100 %), self 0 B (0 %)");
    // Controller.handle has 3 MiB of the 4.5 MiB, and Cache.load 1 MiB.
    assertThat(tooltipAt(0.1, 2))
        .isEqualTo("com.example.web.Controller.handle\nJava, total 3 MiB (66.7 %), self 0 B (0 %)");
    assertThat(tooltipAt(0.65, 2)).startsWith("com.example.web.Controller.handle\n");
    assertThat(tooltipAt(0.69, 2)).startsWith("com.example.Cache.load\n");
    assertThat(tooltipAt(0.1, 4))
        .isEqualTo("libzip.so!deflateInit2_\nnative, total 3 MiB (66.7 %), self 3 MiB (66.7 %)");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void distinguishesNativeFromJavaByColourAndLegend() throws Exception {
    open(ExampleSites.service());

    assertThat(colour(0.5, 0)).isEqualTo("grey");
    assertThat(colour(0.5, 1)).isEqualTo("blue");
    assertThat(colour(0.5, 4)).isEqualTo("orange");
    assertThat(browser.text("#controls"))
        .contains("native function", "Java method", "too narrow to draw");
  }

  @Test
  void searchHighlightsFramesAndShowsTheMatchedShare() throws Exception {
    open(ExampleSites.service());

    browser.press("/");
    browser.type("ARENA::");

    browser.await("document.querySelector('#matched').textContent !== ''");
    assertThat(browser.text("#matched")).isEqualTo("33.3 % found, 1.5 MiB");
    assertThat(colour(0.75, 3)).isEqualTo("pink");
    assertThat(colour(0.5, 4)).isEqualTo("orange");

    browser.press("Enter");
    assertThat(tooltipAt(0.4, 3)).startsWith("java.util.zip.Deflater.init\n");
    browser.screenshot(PICTURES.resolve("search.png"));
    assertThat(browser.text("#status")).startsWith("libjvm.so!Arena::grow: native, total 1 MiB");
    browser.press("/");
    browser.press("Escape");
    assertThat(browser.text("#matched")).isEmpty();
  }

  @Test
  void whatIsBelowAMatchIsNotCountedTwice() throws Exception {
    open(ExampleSites.service());

    browser.press("/");
    browser.type("deflate");

    assertThat(browser.text("#matched")).isEqualTo("66.7 % found, 3 MiB");
  }

  @Test
  void clicksAndKeysZoom() throws Exception {
    open(ExampleSites.service());

    clickAt(0.8, 2);
    assertThat(browser.text("#status"))
        .isEqualTo("Zoomed: com.example.Cache.load: Java, total 1 MiB (22.2 %), self 0 B (0 %)");
    assertThat(tooltipAt(0.05, 3))
        .isEqualTo(
            "libjvm.so!Arena::grow\nnative, total 1 MiB (22.2 %), 100 % of what is zoomed, self 1"
                + " MiB (22.2 %)");
    clickAt(0.5, 1);
    assertThat(browser.text("#status")).startsWith("Zoomed: com.example.Main.main: ");

    browser.evaluate("document.querySelector('#graph').focus()");
    browser.press("Escape");
    assertThat(browser.text("#status")).startsWith("all: total 4.5 MiB");
    browser.press("ArrowDown");
    browser.press("ArrowDown");
    assertThat(browser.text("#status")).startsWith("com.example.web.Controller.handle: ");
    browser.press("ArrowRight");
    assertThat(browser.text("#status")).startsWith("com.example.Cache.load: ");
    browser.press("Enter");
    assertThat(tooltipAt(0.05, 3)).startsWith("libjvm.so!Arena::grow\n");
    browser.press("ArrowUp");
    assertThat(browser.text("#status")).startsWith("com.example.Main.main: ");
    browser.press("Escape");
    assertThat(tooltipAt(0.05, 3)).startsWith("java.util.zip.Deflater.init\n");

    clickAt(0.8, 2);
    browser.evaluate("document.querySelector('#reset').click()");
    assertThat(browser.text("#status")).startsWith("all: total 4.5 MiB");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void showsAllFourFigures() throws Exception {
    open(ExampleSites.service());

    assertThat(show("live-objects")).startsWith("all: total 38 objects (100 %)");
    assertThat(show("allocated")).startsWith("all: total 17.1 MiB (100 %)");
    assertThat(show("allocated-objects")).startsWith("all: total 1,048 objects (100 %)");
    assertThat(tooltipAt(0.1, 3)).startsWith("com.example.Buffers.take\n");
    assertThat(show("live")).startsWith("all: total 4.5 MiB (100 %)");
  }

  @Test
  void opensWithTheRequestedFigure() throws Exception {
    open(ExampleSites.service(), ReportMetric.ALLOCATED_OBJECTS);

    assertThat(browser.evaluate("document.querySelector('#metric').value"))
        .isEqualTo("allocated-objects");
    assertThat(browser.text("#status")).startsWith("all: total 1,048 objects");
  }

  @Test
  void namesOfFramesAreTextWhateverTheySay() throws Exception {
    String name =
        "</script><script>window.ran = true</script><img src=x onerror='ran=1'>\"'&\u2028é😀";
    open(
        ExampleSites.of(
            ExampleSites.site(1, 1, 8, 1, 8, StackFrame.ofLibrary("<b>lib</b>.so", name, 1))));

    assertThat(tooltipAt(0.5, 1)).startsWith("<b>lib</b>.so!" + name + "\n");
    assertThat(browser.evaluate("'ran' in window")).isEqualTo("false");
    assertThat(browser.evaluate("document.querySelectorAll('img, b').length")).isEqualTo("0");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void thePolicyAdmitsNothingElse() throws Exception {
    Path page = write(ExampleSites.service(), ReportMetric.LIVE_BYTES);
    String html = Files.readString(page);
    assertThat(html).doesNotContain("http:", "https:", "src=", "href=", "unsafe");
    Files.writeString(page, html.replace("</body>", "<script>window.ran = true</script></body>"));

    browser.open(page.toUri());

    assertThat(browser.evaluate("'ran' in window")).isEqualTo("false");
    assertThat(browser.complaints()).anyMatch(text -> text.contains("Content Security Policy"));
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    open(CallSites.none(ExampleSites.TIME, "stacks are off: set MALLOMETER_STACKS=java"));

    assertThat(browser.text("#missing")).isEqualTo("stacks are off: set MALLOMETER_STACKS=java");
    assertThat(browser.text("#status")).isEqualTo("Nothing to show: no site has this figure.");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void fitsAPhoneAndFollowsTheColourScheme() throws Exception {
    for (String scheme : List.of("light", "dark")) {
      browser.prefer(scheme);
      open(ExampleSites.generated(3_000, 40));
      assertThat(brightness() > 128).isEqualTo(scheme.equals("light"));
      browser.screenshot(PICTURES.resolve(scheme + ".png"));
      browser.evaluate("document.querySelector('#reset').click()");
      assertThat(leastContrast()).as(scheme).isBetween(LEAST_CONTRAST, 15.0);
      browser.press("/");
      browser.type("symbol_1");
      assertThat(leastContrast()).as("found, " + scheme).isBetween(LEAST_CONTRAST, 15.0);

      browser.resize(390, 844);
      browser.open(write(ExampleSites.service(), ReportMetric.LIVE_BYTES).toUri());
      assertThat(browser.evaluate("document.documentElement.scrollWidth")).isEqualTo("390");
      assertThat(browser.evaluate("document.documentElement.scrollHeight")).isEqualTo("844");
      clickAt(0.2, 2);
      assertThat(browser.text("#status")).startsWith("Zoomed: com.example.web.Controller.handle");
      browser.screenshot(PICTURES.resolve("phone-" + scheme + ".png"));
    }
    browser.prefer("light");
  }

  @Test
  void framesTooNarrowToDrawAreSummedUpInOneBox() throws Exception {
    CallSite[] sites = new CallSite[10_000];
    for (int i = 0; i < sites.length; i++) {
      StackFrame function = StackFrame.ofLibrary("libwide.so", "f" + i, 0);
      sites[i] = ExampleSites.site(i, 1, 1024, 1, i == 0 ? 10_001 : 1, function);
    }
    open(ExampleSites.of(sites));

    assertThat(tooltipAt(0.45, 1)).startsWith("libwide.so!f0\n");
    assertThat(tooltipAt(0.6, 1))
        .isEqualTo("9,999 too narrow to draw, below all\ntotal 9.76 KiB (50 %)");
  }

  @Test
  void deepStacksScroll() throws Exception {
    open(ExampleSites.generated(50, 600));
    browser.await("document.querySelector('#status').textContent.startsWith('Zoomed: ')");

    browser.evaluate(
        """
        {
          const graph = document.querySelector('#graph');
          graph.focus();
          for (let i = 0; i < 298; i++) {
            graph.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'}));
          }
        }""");
    browser.press("ArrowDown");

    assertThat(browser.evaluate("document.querySelector('#view').scrollTop > 4000"))
        .isEqualTo("true");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void opensAtTheMethodThatNamesMostBytesBelowTheRoot() throws Exception {
    open(ExampleSites.generated(50, 600));

    browser.await("document.querySelector('#status').textContent.startsWith('Zoomed: ')");
    assertThat(browser.evaluate("document.querySelector('#view').scrollTop")).isEqualTo("0");
    assertThat(tooltipAt(0.5, 0)).startsWith("all\n");
    // The zoomed method is as wide as the root, so the row has no empty space.
    String zoomed = browser.text("#status").replaceFirst("Zoomed: (\\S+):.*", "$1");
    assertThat(tooltipAt(0.02, 2)).startsWith(zoomed + "\n");
    assertThat(tooltipAt(0.98, 2)).startsWith(zoomed + "\n");
    assertThat(colour(0.5, 1)).isNotEqualTo("grey");
  }

  @Test
  void opensZoomedToTheApplicationWhereTheRestHoldsMost() throws Exception {
    StackFrame main = StackFrame.ofJava("com.example.Main", "main", "Main.java", 1);
    StackFrame load = StackFrame.ofJava("com.example.Cache", "load", "Cache.java", 2);
    StackFrame inner = StackFrame.ofLibrary("libzip.so", "deflateInit2_", 1);
    StackFrame compiler = StackFrame.ofLibrary("libjvm.so", "Compile", 1);
    open(
        ExampleSites.of(
            ExampleSites.site(1, 1, 8, 1, 1_000, inner, load, main),
            ExampleSites.site(2, 1, 8, 1, 9_000, compiler)));

    browser.await("document.querySelector('#status').textContent.startsWith('Zoomed: ')");
    assertThat(browser.text("#status"))
        .isEqualTo("Zoomed: com.example.Main.main: Java, total 1,000 B (10 %), self 0 B (0 %)");
  }

  @Test
  void opensAHundredThousandSites() throws Exception {
    open(ExampleSites.generated(100_000, 60));

    browser.press("/");
    browser.type("symbol_12");
    browser.await("document.querySelector('#matched').textContent !== ''");
    assertThat(browser.text("#matched")).contains("% found");
    assertThat(browser.complaints()).isEmpty();
  }

  private static void open(CallSites sites) throws Exception {
    open(sites, ReportMetric.LIVE_BYTES);
  }

  private static void open(CallSites sites, ReportMetric metric) throws Exception {
    browser.resize(1200, 800);
    browser.open(write(sites, metric).toUri());
    browser.await("document.querySelector('#graph').width > 300");
  }

  private static Path write(CallSites sites, ReportMetric metric) throws Exception {
    Path page = Files.createTempFile(directory, "flame", ".html");
    try (OutputStream out = Files.newOutputStream(page)) {
      ReportFormat.FLAMEGRAPH.write(sites, metric, out);
    }
    return page;
  }

  private static String show(String metric) throws Exception {
    browser.evaluate(
        "{ const select = document.querySelector('#metric'); select.value = '"
            + metric
            + "'; select.dispatchEvent(new Event('change')); }");
    return browser.text("#status");
  }

  private static String tooltipAt(double share, int row) throws Exception {
    browser.moveTo(x(share), y(row));
    assertThat(browser.evaluate("document.querySelector('#tooltip').hidden")).isEqualTo("false");
    return browser.text("#tooltip");
  }

  private static void clickAt(double share, int row) throws Exception {
    browser.click(x(share), y(row));
  }

  private static double x(double share) throws Exception {
    return coordinate("left") + share * coordinate("width");
  }

  private static double y(int row) throws Exception {
    return coordinate("top") + (row + 0.5) * ROW;
  }

  private static double coordinate(String name) throws Exception {
    return Double.parseDouble(
        browser.evaluate("document.querySelector('#graph').getBoundingClientRect()." + name));
  }

  private static String colour(double share, int row) throws Exception {
    browser.moveTo(0, 0);
    return browser.evaluate(
        String.format(
            Locale.ROOT,
            """
            {
              const graph = document.querySelector('#graph');
              const copy = document.createElement('canvas');
              copy.width = copy.height = 1;
              const pen = copy.getContext('2d');
              const scale = graph.width / graph.clientWidth;
              pen.drawImage(graph, %f * graph.width, %d * scale, 1, 1, 0, 0, 1, 1);
              const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
              green < red && green < blue ? 'pink' : red > blue + 20 ? 'orange' : blue > red + 20 ? 'blue' : 'grey';
            }""",
            share,
            row * ROW + ROW - 4));
  }

  /**
   * Returns the least contrast between the text and the boxes below the root. The color of a box is
   * read near its lower edge, where it has no text.
   */
  private static double leastContrast() throws Exception {
    return Double.parseDouble(
        browser.evaluate(
            String.format(
                Locale.ROOT,
                """
                {
                  const graph = document.querySelector('#graph');
                  const scale = graph.width / graph.clientWidth;
                  const luminance = channels => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
                    const part = channels[i] / 255;
                    return sum + weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                  }, 0);
                  const text = luminance(getComputedStyle(document.body).color.match(/\\d+/g));
                  let least = 21;
                  for (let y = %1$d + %2$d; y < graph.clientHeight; y += %1$d) {
                    const {data} = graph.getContext('2d').getImageData(0, y * scale, graph.width, 1);
                    for (let i = 0; i < data.length; i += 4) {
                      const box = luminance(data.subarray(i, i + 3));
                      // Where no box is, nothing is drawn.
                      if (data[i + 3] === 255) {
                        least = Math.min(least, (Math.max(text, box) + 0.05) / (Math.min(text, box) + 0.05));
                      }
                    }
                  }
                  least;
                }""",
                ROW,
                ROW - 4)));
  }

  private static int brightness() throws Exception {
    return Integer.parseInt(
        browser.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"));
  }
}
