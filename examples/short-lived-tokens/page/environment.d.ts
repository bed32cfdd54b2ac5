interface ImportMetaEnv {
  /** Where calls go: an app's address without its key. */
  readonly VITE_KEYRAIL_URL: string
}
