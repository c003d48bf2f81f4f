package jdk.crac;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

/**
 * Simulates the interface of CRaC (checkpoint and restore) in a JVM without CRaC. A program calls
 * the global context, which notifies the registered resources. No checkpoint is taken.
 */
public final class Core {

  private static final Context<Resource> GLOBAL = new Resources();

  private Core() {}

  public static Context<Resource> getGlobalContext() {
    return GLOBAL;
  }

  private static final class Resources extends Context<Resource> {

    private final List<WeakReference<Resource>> registered = new ArrayList<>();

    @Override
    public synchronized void register(Resource resource) {
      registered.add(new WeakReference<>(resource));
    }

    /** Notifies the resources, the latest first. */
    @Override
    public synchronized void beforeCheckpoint(Context<? extends Resource> context)
        throws Exception {
      for (int i = registered.size() - 1; i >= 0; i--) {
        Resource resource = registered.get(i).get();
        if (resource != null) {
          resource.beforeCheckpoint(this);
        }
      }
    }

    @Override
    public synchronized void afterRestore(Context<? extends Resource> context) throws Exception {
      for (WeakReference<Resource> each : registered) {
        Resource resource = each.get();
        if (resource != null) {
          resource.afterRestore(this);
        }
      }
    }
  }
}
