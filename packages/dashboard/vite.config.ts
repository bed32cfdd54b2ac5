import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'
import { preloads } from './preloads.ts'

// The service during development; `npm start` prints its URL.
const service = process.env['KEYRAIL_SERVICE'] ?? 'http://127.0.0.1:8545'

export default defineConfig({
  plugins: [react(), preloads()],
  resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
  build: {
    target: 'es2023',
    // The policy allows no inline script and no `data:` but images.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        // Code that several pages share is in one file: each small file would be another request before a page is visible.
        codeSplitting: { groups: [{ name: 'shared', test: /\/dashboard\/src\/(?:parts|control)\// }] },
      },
    },
  },
  // The service only responds at its own host, and only accepts changes from its own pages.
  server: { proxy: { '/api': { target: service, changeOrigin: true, headers: { origin: service } } } },
})
