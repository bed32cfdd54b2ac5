interface ImportMetaEnv {
  readonly VITE_KEYRAIL_BASE_URL: string
  readonly VITE_KEYRAIL_API_KEY: string
  readonly VITE_KEYRAIL_CHAIN_ID: string
}
