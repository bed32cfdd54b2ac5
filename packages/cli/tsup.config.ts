import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/main.ts'],
  format: ['esm'],
  sourcemap: true,
  clean: true,
  target: 'node24',
  banner: { js: '#!/usr/bin/env node' },
  // Loaded if installed, never bundled.
  external: ['@keyrail/ethers', '@keyrail/viem', '@keyrail/web3', 'viem', 'web3'],
})
