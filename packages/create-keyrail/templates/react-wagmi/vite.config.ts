import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [react()],
  test: {
    environment: 'happy-dom',
    testTimeout: 30_000,
    // An endpoint that does not exist: the mock node responds.
    env: {
      VITE_KEYRAIL_BASE_URL: 'https://node.example/testnet',
      VITE_KEYRAIL_API_KEY: 'kr_test',
      VITE_KEYRAIL_CHAIN_ID: '1952805748',
    },
  },
})
