import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/main.ts'],
  format: ['esm'],
  sourcemap: true,
  clean: true,
  target: 'node24',
  banner: { js: '#!/usr/bin/env node' },
  // Loaded where they are installed, and never brought along.
  external: ['@keyrail/ethers', '@keyrail/viem', '@keyrail/web3', 'viem', 'web3'],
})
