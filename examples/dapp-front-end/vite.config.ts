import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, loadEnv } from 'vite'

export default defineConfig(({ mode }) => {
  const root = import.meta.dirname
  if (!loadEnv(mode, root)['VITE_TOKEN'])
    throw new Error('VITE_TOKEN is missing: the README says how .env.local is made')
  return {
    root,
    plugins: [react()],
    // Only here, in the workspace: the packages' sources in place of what the registry has.
    resolve: { conditions: ['@keyrail/source', ...defaultClientConditions] },
  }
})
