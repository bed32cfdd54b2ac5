import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Only here, in the workspace: the packages' sources in place of what the registry has. A dApp needs no such line.
const conditions = ['@keyrail/source', ...defaultServerConditions]

export default defineConfig({ resolve: { conditions }, ssr: { resolve: { conditions } } })
