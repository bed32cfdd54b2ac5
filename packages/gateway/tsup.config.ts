import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    portOffset: 'src/portOffset.ts',
    // The code of threads, which must be files of their own.
    writerThread: 'src/storage/sqlite/writerThread.ts',
    chainThread: 'src/storage/chainStore/chainThread.ts',
  },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts', portOffset: 'src/portOffset.ts' } },
  sourcemap: true,
  clean: true,
  target: 'node24',
  // There is no `sqlite` without it.
  removeNodeProtocol: false,
})
