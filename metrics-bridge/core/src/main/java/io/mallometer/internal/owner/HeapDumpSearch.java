package io.mallometer.internal.owner;

import io.mallometer.internal.owner.HeapGraph.HeapObject;
import io.mallometer.internal.owner.HeapGraph.Hold;
import io.mallometer.internal.owner.HeapGraph.Kind;
import io.mallometer.internal.owner.HeapGraph.Link;
import io.mallometer.internal.owner.HeapGraph.Reference;
import io.mallometer.model.OwnerReport.Holding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The same search in a heap dump, without a JVM: once over the file for the holders, and once more
 * for each link. Ways through native memory are not in a heap dump.
 *
 * <p>Of each class a bounded number of holders is followed, of those alone that something refers
 * to. Where all of these are garbage after all (addresses are used again, and garbage has them from
 * before), as many more are followed, and so on, a few times.
 */
public final class HeapDumpSearch {

  private static final int FOLLOWED_OF_WAY = 64;
  private static final int MOST_FOLLOWED_OF_WAY = 1024;
  private static final int MOST_REFERRERS = 4;
  private static final int MOST_OBJECTS = 200_000;

  /** Below lie addresses that numbers of 32 bits can look like. */
  private static final long LOW = 1L << 32;

  private static final class Node {
    final long id;
    long classId;
    String className = "?";

    /** The pass that looks for its referrers. */
    int level;

    /** Has the address of a block. */
    boolean holds;

    boolean referred;
    boolean followed;
    boolean expanded;
    boolean more;
    final List<Link> referrers = new ArrayList<>();

    Node(long id, int level) {
      this.id = id;
      this.level = level;
    }
  }

  private final HeapDumpFile dump;
  private final NavigableMap<Long, long[]> blocks = new TreeMap<>();
  private final List<Node> nodes = new ArrayList<>();
  private final Map<Long, Integer> numbers = new HashMap<>();
  private final List<Hold> holds = new ArrayList<>();

  /** How many holders of a class are followed, and how many may be. */
  private final Map<String, Integer> followed = new HashMap<>();

  private final Map<String, Integer> mayFollow = new HashMap<>();
  private final Map<Long, Reference> roots = new HashMap<>();

  /**
   * A search.
   *
   * @param addresses a file with a line for each block: its address in hexadecimal and its bytes
   * @throws IOException if the addresses cannot be read
   */
  public HeapDumpSearch(Path dump, Path addresses) throws IOException {
    this.dump = new HeapDumpFile(dump);
    for (String line : Files.readAllLines(addresses)) {
      String[] words = line.strip().split("\\s+");
      if (words.length == 2) {
        try {
          long begin = Long.decode(words[0]);
          blocks.put(begin, new long[] {blocks.size(), begin + Long.parseLong(words[1])});
        } catch (NumberFormatException e) {
          throw new IOException(
              addresses + " has \"" + line + "\" and no address with its bytes", e);
        }
      }
    }
    if (blocks.isEmpty()) {
      throw new IOException(addresses + " has no addresses");
    }
  }

  /**
   * Searches.
   *
   * @param links over how many links what keeps the holders is looked for
   * @throws IOException if the dump cannot be read
   */
  public HeapGraph search(int links) throws IOException {
    dump.read(new Holders());
    int level = 0;
    while (links > 0) {
      int end = level + links;
      boolean goesOn = true;
      for (boolean chooses = true; goesOn; chooses = false) {
        dump.read(new Referrers(level, chooses));
        if (level == 0) {
          concludeUnreferred();
        }
        level++;
        goesOn = level < end && expand(level);
      }
      if (!mayFollowMore()) {
        break;
      }
      level = end + 1; // beyond what was left to follow
    }
    return graph();
  }

  /** How many blocks are looked for. */
  public int samples() {
    return blocks.size();
  }

  private int number(long id, int level) {
    return numbers.computeIfAbsent(
        id,
        object -> {
          nodes.add(new Node(object, level));
          return nodes.size() - 1;
        });
  }

  /** Whether there is anything to look for. */
  private boolean expand(int level) {
    boolean any = false;
    for (Node node : nodes) {
      if (node.level == level && node.followed && !node.expanded) {
        expand(node);
        any = true;
      }
    }
    return any;
  }

  private void expand(Node node) {
    node.expanded = true;
    @Nullable Reference root = roots.get(node.id);
    if (root != null) {
      node.referrers.add(new Link(HeapGraph.NONE, root, null));
    }
  }

  /** Whether a holder is among those that are followed. */
  private boolean choose(Node holder, int level) {
    int most = mayFollow.getOrDefault(holder.className, FOLLOWED_OF_WAY);
    if (followed.getOrDefault(holder.className, 0) >= most) {
      return false;
    }
    followed.merge(holder.className, 1, Integer::sum);
    holder.followed = true;
    holder.level = level;
    expand(holder);
    return true;
  }

  /** Of holders that nothing refers to it is known. */
  private void concludeUnreferred() {
    for (Node node : nodes) {
      if (node.holds && !node.referred && !roots.containsKey(node.id)) {
        node.expanded = true;
        node.followed = true;
      }
    }
  }

  /** Whether there is a class of whose holders none but garbage was followed, and not all were. */
  private boolean mayFollowMore() {
    Climb climb = new Climb(graph().objects());
    Set<String> alive = new HashSet<>();
    Set<String> left = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      Node node = nodes.get(i);
      if (node.holds && !node.followed) {
        left.add(node.className);
      } else if (node.holds && climb.from(i).holding() != Holding.UNREACHABLE) {
        alive.add(node.className);
      }
    }
    left.removeAll(alive);
    left.removeIf(name -> followed.getOrDefault(name, 0) >= MOST_FOLLOWED_OF_WAY);
    left.forEach(name -> mayFollow.merge(name, 2 * FOLLOWED_OF_WAY, (most, two) -> 2 * most));
    return !left.isEmpty();
  }

  private HeapGraph graph() {
    List<HeapObject> objects = new ArrayList<>();
    for (Node node : nodes) {
      objects.add(
          new HeapObject(
              node.className,
              kind(node),
              node.followed,
              node.expanded,
              node.more,
              !node.referrers.isEmpty(),
              node.referrers));
    }
    return new HeapGraph(blocks.size(), 0, holds, objects);
  }

  private Kind kind(Node node) {
    if (dump.className(node.id) != null) {
      return Kind.CLASS;
    }
    String packageName = "java.lang.ref.";
    if (dump.isA(node.classId, packageName + "PhantomReference")) {
      return Kind.PHANTOM;
    }
    if (dump.isA(node.classId, packageName + "FinalReference")) {
      return Kind.FINAL;
    }
    if (dump.isA(node.classId, packageName + "SoftReference")) {
      return Kind.SOFT;
    }
    return dump.isA(node.classId, packageName + "Reference") ? Kind.WEAK : Kind.OTHER;
  }

  /** The first pass: longs that are addresses, and roots. */
  private final class Holders implements HeapDumpFile.Reader {
    @Override
    public void staticField(long classId, String name, boolean isReference, long value) {
      if (!isReference) {
        hold(value, HeapGraph.NONE, String.valueOf(dump.className(classId)), name);
      }
    }

    @Override
    public void field(long object, long classId, String name, boolean isReference, long value) {
      if (!isReference && isNear(value)) {
        holds(object, classId, String.valueOf(dump.className(classId)), name, value);
      }
    }

    @Override
    public void element(long array, String className, boolean isReference, long value) {
      if (!isReference && isNear(value)) {
        holds(array, 0, className, "", value);
      }
    }

    private boolean isNear(long value) {
      return value >= blocks.firstKey() && blockAt(value) != null;
    }

    private long @Nullable [] blockAt(long value) {
      Map.@Nullable Entry<Long, long[]> entry = blocks.floorEntry(value);
      if (entry == null || value >= entry.getValue()[1]) {
        return null;
      }
      boolean startOnly = entry.getKey() < LOW;
      return startOnly && value != entry.getKey() ? null : entry.getValue();
    }

    private void holds(long object, long classId, String className, String field, long value) {
      int number = number(object, 0);
      nodes.get(number).classId = classId;
      nodes.get(number).className = className;
      nodes.get(number).holds = true;
      hold(value, number, className, field);
    }

    private void hold(long value, int object, String className, String field) {
      long @Nullable [] block = blockAt(value);
      if (block != null) {
        holds.add(new Hold((int) block[0], false, object, className, field, 0));
      }
    }

    @Override
    public void root(long object, Reference reference) {
      roots.merge(object, reference, (one, other) -> one.compareTo(other) < 0 ? one : other);
    }
  }

  /** A further pass: what refers to the objects of a level. */
  private final class Referrers implements HeapDumpFile.Reader {
    private final int level;
    private final Map<Long, Node> wanted = new HashMap<>();

    /**
     * A pass.
     *
     * @param chooses whether holders are chosen: each with the first reference to it
     */
    Referrers(int level, boolean chooses) {
      this.level = level;
      for (Node node : nodes) {
        boolean isChoice = chooses && node.holds && !node.expanded;
        if (isChoice && roots.containsKey(node.id)) {
          choose(node, level);
        }
        if (isChoice || (node.level == level && node.expanded)) {
          wanted.put(node.id, node);
        }
      }
    }

    private @Nullable Node wanted(boolean isReference, long value) {
      @Nullable Node node = isReference && value != 0 ? wanted.get(value) : null;
      if (node == null) {
        return null;
      }
      node.referred = true;
      return node.expanded || choose(node, level) ? node : null;
    }

    private void link(
        Node of, long referrer, long classId, String name, Reference how, String field) {
      if (of.referrers.size() >= MOST_REFERRERS || nodes.size() >= MOST_OBJECTS) {
        of.more = true;
        return;
      }
      Node from = nodes.get(number(referrer, level + 1));
      from.classId = classId;
      from.className = name;
      Kind kind = kind(from);
      if (!from.expanded && how != Reference.STATIC && kind != Kind.CLASS && kind != Kind.PHANTOM) {
        from.level = level + 1;
        from.followed = true;
      }
      of.referrers.add(new Link(numbers.get(referrer), how, field.isEmpty() ? null : field));
    }

    @Override
    public void staticField(long classId, String name, boolean isReference, long value) {
      @Nullable Node node = wanted(isReference, value);
      if (node != null) {
        link(node, classId, 0, String.valueOf(dump.className(classId)), Reference.STATIC, name);
      }
    }

    @Override
    public void field(long object, long classId, String name, boolean isReference, long value) {
      @Nullable Node node = wanted(isReference, value);
      if (node != null) {
        String className = String.valueOf(dump.className(classId));
        link(node, object, classId, className, Reference.FIELD, name);
      }
    }

    @Override
    public void element(long array, String className, boolean isReference, long value) {
      @Nullable Node node = wanted(isReference, value);
      if (node != null) {
        link(node, array, 0, className, Reference.ELEMENT, "");
      }
    }

    @Override
    public void root(long object, Reference reference) {
      // Known since the first pass.
    }
  }
}
