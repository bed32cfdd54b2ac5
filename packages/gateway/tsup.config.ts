import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    portOffset: 'src/portOffset.ts',
    // The code of a thread, which must be a file of its own.
    writerThread: 'src/storage/sqlite/writerThread.ts',
  },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts', portOffset: 'src/portOffset.ts' } },
  sourcemap: true,
  clean: true,
  target: 'node24',
  // There is no `sqlite` without it.
  removeNodeProtocol: false,
})
