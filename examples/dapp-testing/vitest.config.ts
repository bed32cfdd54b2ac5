import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

// Only in this workspace: use the sources of the packages, not the published ones. Your dApp does not need this.
const conditions = ['@keyrail/source', ...defaultServerConditions]

export default defineConfig({ resolve: { conditions }, ssr: { resolve: { conditions } } })
