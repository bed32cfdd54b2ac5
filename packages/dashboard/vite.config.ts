import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

// The service that answers while the pages are worked on; `npm start` says where it is.
const service = process.env['KEYRAIL_SERVICE'] ?? 'http://127.0.0.1:8545'

export default defineConfig({
  plugins: [react()],
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
        // What several pages share is one file: each small file of its own is one more request before a page is shown.
        codeSplitting: { groups: [{ name: 'shared', test: /\/dashboard\/src\/(?:parts|control)\// }] },
      },
    },
  },
  // The service answers to its own name alone, and takes changes from its own pages alone.
  server: { proxy: { '/api': { target: service, changeOrigin: true, headers: { origin: service } } } },
})
