import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, loadEnv } from 'vite'

export default defineConfig(({ mode }) => {
  const root = import.meta.dirname
  if (!loadEnv(mode, root)['VITE_TOKEN'])
    throw new Error('VITE_TOKEN is missing. Create .env.local with `npm start`, as in the README.')
  return {
    root,
    plugins: [react()],
    // Only in this workspace: use the sources of the packages, not the published ones.
    resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
  }
})
