import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads names of functions from the file that the first argument names, and prints those that
 * Java's default lookup finds. If the second argument names a library, the lookup must find malloc,
 * free, realloc and malloc_usable_size there.
 */
class Lookup {
  public static void main(String[] arguments) throws Exception {
    SymbolLookup lookup = Linker.nativeLinker().defaultLookup();
    for (String name : Files.readAllLines(Path.of(arguments[0]))) {
      if (lookup.find(name).isPresent()) {
        System.out.println(name);
      }
    }
    for (String name : new String[] {"malloc", "free", "realloc", "malloc_usable_size"}) {
      String path = fileAt(lookup.find(name).orElseThrow().address());
      if (arguments.length > 1 && !path.equals(arguments[1])) {
        throw new AssertionError(name + " is in " + path);
      }
    }
  }

  private static String fileAt(long address) throws Exception {
    for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      String[] fields = line.split(" +", 6);
      String[] range = fields[0].split("-");
      long begin = Long.parseUnsignedLong(range[0], 16);
      long end = Long.parseUnsignedLong(range[1], 16);
      if (address >= begin && address < end && fields.length == 6) {
        return fields[5];
      }
    }
    return "";
  }
}
