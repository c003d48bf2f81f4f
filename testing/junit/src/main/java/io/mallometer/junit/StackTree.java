package io.mallometer.junit;

import io.mallometer.internal.text.HumanText;
import io.mallometer.model.StackFrame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stacks as a tree, outermost frame first, with figures where the stacks branch:
 *
 * <pre>
 *      20.2 MiB      40 x  LeakTest.deflates(LeakTest.java:21)
 *                          java.util.zip.Deflater.&lt;init&gt;(Deflater.java:204)
 *      15.0 MiB      20 x  ├─ libz.so!deflateInit2_
 *       5.2 MiB      20 x  └─ libzip.so!init
 * </pre>
 *
 * <p>A stack that contains the test begins at the test's outermost frame.
 */
final class StackTree {

  private static final int MOST_CHILDREN = 4;
  private static final int MOST_LINES = 60;
  private static final int FIGURES_WIDTH = 23;

  private final Node root = new Node();
  private final List<String> lines = new ArrayList<>();

  private static final class Node {
    final Map<String, Node> children = new LinkedHashMap<>();
    double bytes;
    double objects;

    void add(Kept kept) {
      bytes += kept.bytes();
      objects += kept.objects();
    }

    String figures() {
      return "%10s %8s x  ".formatted(HumanText.bytes(bytes), HumanText.number(objects));
    }
  }

  private StackTree() {}

  static String of(List<Kept> kept, Class<?> test) {
    StackTree tree = new StackTree();
    kept.forEach(site -> tree.add(site, test));
    tree.drawChildren(tree.root, "", true);
    if (tree.lines.size() > MOST_LINES) {
      int more = tree.lines.size() - MOST_LINES;
      tree.lines.subList(MOST_LINES, tree.lines.size()).clear();
      tree.lines.add(" ".repeat(FIGURES_WIDTH) + "... " + more + " more lines");
    }
    return String.join("\n", tree.lines);
  }

  private void add(Kept site, Class<?> test) {
    root.add(site);
    Node node = root;
    for (int i = outermost(site.frames(), test); i >= 0; i--) {
      StackFrame frame = site.frames().get(i);
      if (!frame.isOfCall()) {
        node = node.children.computeIfAbsent(text(frame), text -> new Node());
        node.add(site);
      }
    }
    if (node == root) {
      root.children.computeIfAbsent("[no stack]", text -> new Node()).add(site);
    }
  }

  private static int outermost(List<StackFrame> frames, Class<?> test) {
    for (int i = frames.size() - 1; i >= 0; i--) {
      if (SiteOwner.isOf(test, frames.get(i))) {
        return i;
      }
    }
    return frames.size() - 1;
  }

  private static String text(StackFrame frame) {
    return frame.kind() == StackFrame.Kind.JAVA ? frame.toString() : frame.function();
  }

  private void drawChildren(Node node, String indent, boolean isRoot) {
    List<Map.Entry<String, Node>> children = new ArrayList<>(node.children.entrySet());
    children.sort(
        Comparator.<Map.Entry<String, Node>>comparingDouble(child -> child.getValue().bytes)
            .reversed());
    boolean divides = isRoot || children.size() > 1;
    int shown = Math.min(MOST_CHILDREN, children.size());
    for (int i = 0; i < shown; i++) {
      Node child = children.get(i).getValue();
      boolean last = i == children.size() - 1;
      String branch = isRoot || !divides ? "" : last ? "└─ " : "├─ ";
      String below = isRoot || !divides ? "" : last ? "   " : "│  ";
      String figures = divides ? child.figures() : " ".repeat(FIGURES_WIDTH);
      lines.add(figures + indent + branch + children.get(i).getKey());
      drawChildren(child, indent + below, false);
    }
    if (shown < children.size()) {
      drawRest(children.subList(shown, children.size()), indent, isRoot);
    }
  }

  private void drawRest(List<Map.Entry<String, Node>> rest, String indent, boolean isRoot) {
    Node sum = new Node();
    rest.forEach(
        child -> sum.add(new Kept(List.of(), child.getValue().bytes, child.getValue().objects)));
    lines.add(sum.figures() + indent + (isRoot ? "" : "└─ ") + rest.size() + " more");
  }
}
