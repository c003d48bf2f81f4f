package io.mallometer.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mallometer.RequiredProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A page in a headless Chromium. Tests control the browser by the DevTools protocol. */
final class Chromium implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process browser;
  private final WebSocket socket;
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final List<String> complaints = Collections.synchronizedList(new ArrayList<>());
  private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();
  private int commands;

  static void mustBeThere() {
    RequiredProgram.onPath("chromium", "chromium", "REQUIRE_CHROMIUM");
  }

  static Chromium start(Path directory) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
            "--user-data-dir=" + directory.resolve("profile"),
            "about:blank");
    builder.environment().put("HOME", directory.toString());
    builder.environment().put("TMPDIR", directory.toString());
    builder.redirectErrorStream(true).redirectOutput(directory.resolve("chromium.log").toFile());
    Process browser = builder.start();
    try {
      return new Chromium(browser, directory.resolve("profile/DevToolsActivePort"));
    } catch (Exception e) {
      browser.destroyForcibly();
      throw e;
    }
  }

  private Chromium(Process browser, Path portFile) throws Exception {
    this.browser = browser;
    int port = awaitPort(portFile);
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest newPage =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/new?about:blank"))
            .method("PUT", HttpRequest.BodyPublishers.noBody())
            .build();
    JsonNode page = JSON.readTree(http.send(newPage, HttpResponse.BodyHandlers.ofString()).body());
    socket =
        http.newWebSocketBuilder()
            .buildAsync(URI.create(page.get("webSocketDebuggerUrl").asText()), new Messages())
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    for (String domain : List.of("Page", "Runtime", "Log", "DOM")) {
      send(domain + ".enable", Map.of());
    }
  }

  private int awaitPort(Path portFile) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < deadline && browser.isAlive()) {
      List<String> lines = Files.exists(portFile) ? Files.readAllLines(portFile) : List.of();
      if (lines.size() > 1) {
        return Integer.parseInt(lines.get(0));
      }
      Thread.sleep(50);
    }
    throw new IOException("chromium opened no port; alive: " + browser.isAlive());
  }

  void open(URI address) throws Exception {
    complaints.clear();
    loaded = new CompletableFuture<>();
    send("Page.navigate", Map.of("url", address.toString()));
    loaded.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  String evaluate(String expression) throws Exception {
    JsonNode answer =
        send("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
    if (answer.has("exceptionDetails")) {
      throw new IllegalStateException(answer.get("exceptionDetails").toString());
    }
    return answer.get("result").path("value").asText();
  }

  void await(String condition) throws Exception {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!evaluate("Boolean(" + condition + ")").equals("true")) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("never true: " + condition);
      }
      Thread.sleep(20);
    }
  }

  String text(String selector) throws Exception {
    return evaluate("document.querySelector('" + selector + "').textContent");
  }

  void press(String key) throws Exception {
    String text = key.length() == 1 ? key : key.equals("Enter") ? "\r" : "";
    send(
        "Input.dispatchKeyEvent",
        Map.of(
            "type",
            text.isEmpty() ? "rawKeyDown" : "keyDown",
            "key",
            key,
            "text",
            text,
            "windowsVirtualKeyCode",
            key.equals("Enter") ? 13 : 0));
    send("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key));
  }

  void type(String text) throws Exception {
    send("Input.insertText", Map.of("text", text));
  }

  void moveTo(double x, double y) throws Exception {
    mouse("mouseMoved", x, y, 0);
  }

  void click(double x, double y) throws Exception {
    mouse("mousePressed", x, y, 1);
    mouse("mouseReleased", x, y, 1);
  }

  private void mouse(String type, double x, double y, int clicks) throws Exception {
    send(
        "Input.dispatchMouseEvent",
        Map.of("type", type, "x", x, "y", y, "button", "left", "clickCount", clicks));
  }

  void choose(String selector, Path file) throws Exception {
    int root = send("DOM.getDocument", Map.of()).get("root").get("nodeId").asInt();
    JsonNode input = send("DOM.querySelector", Map.of("nodeId", root, "selector", selector));
    send(
        "DOM.setFileInputFiles",
        Map.of("nodeId", input.get("nodeId").asInt(), "files", List.of(file.toString())));
  }

  void prefer(String colorScheme) throws Exception {
    Map<String, String> feature = Map.of("name", "prefers-color-scheme", "value", colorScheme);
    send("Emulation.setEmulatedMedia", Map.of("features", List.of(feature)));
  }

  void resize(int width, int height) throws Exception {
    send(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 2, "mobile", width < 600));
  }

  void screenshot(Path png) throws Exception {
    String encoded = send("Page.captureScreenshot", Map.of()).get("data").asText();
    Files.createDirectories(png.getParent());
    Files.write(png, Base64.getDecoder().decode(encoded));
  }

  /**
   * Returns what the browser's console complained about: errors, warnings, uncaught exceptions, and
   * requests that a security policy blocked.
   */
  List<String> complaints() {
    return List.copyOf(complaints);
  }

  private JsonNode send(String method, Map<String, ?> parameters) throws Exception {
    int id = ++commands;
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    answers.put(id, answer);
    String command =
        JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters));
    socket.sendText(command, true).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    JsonNode message = answer.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    if (message.has("error")) {
      throw new IllegalStateException(method + ": " + message.get("error"));
    }
    return message.get("result");
  }

  private void receive(JsonNode message) {
    if (message.has("id")) {
      answers.remove(message.get("id").asInt()).complete(message);
      return;
    }
    JsonNode parameters = message.get("params");
    switch (message.get("method").asText()) {
      case "Page.loadEventFired" -> loaded.complete(null);
      case "Runtime.exceptionThrown", "Log.entryAdded" -> complaints.add(parameters.toString());
      case "Runtime.consoleAPICalled" -> {
        if (List.of("error", "warning", "assert").contains(parameters.get("type").asText())) {
          complaints.add(parameters.toString());
        }
      }
      default -> {}
    }
  }

  private final class Messages implements WebSocket.Listener {

    private final StringBuilder partial = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      partial.append(data);
      if (last) {
        try {
          receive(JSON.readTree(partial.toString()));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        } finally {
          partial.setLength(0);
        }
      }
      from.request(1);
      return CompletableFuture.completedStage(null);
    }
  }

  /** Ends the browser, and waits for its child processes, because they use the directory. */
  @Override
  public void close() {
    socket.abort();
    List<ProcessHandle> processes = new ArrayList<>(browser.descendants().toList());
    processes.add(browser.toHandle());
    browser.destroy();
    for (ProcessHandle process : processes) {
      process.onExit().orTimeout(10, TimeUnit.SECONDS).exceptionally(late -> end(process)).join();
    }
  }

  private static ProcessHandle end(ProcessHandle process) {
    process.destroyForcibly();
    return process.onExit().join();
  }
}
