/* Stands in for libnvinfer_plugin.so.11: TensorRT-RTX has no such library, and TensorRT's Python
 * bindings want this one function of it. There are no plugins to register: say that it went well. */

int initLibNvInferPlugins(void *logger, const char *library_namespace) {
  (void)logger;
  (void)library_namespace;
  return 1;
}
