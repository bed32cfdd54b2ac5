import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // Only here, in the workspace: the packages' sources in place of what the registry has.
  resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
})
