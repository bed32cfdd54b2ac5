interface ImportMetaEnv {
  /** The URL of an app, without its key. */
  readonly VITE_KEYRAIL_URL: string
}
