import { defineConfig } from 'tsup'

export default defineConfig({
  // The second is the code of a thread, which must be a file of its own.
  entry: { index: 'src/index.ts', writerThread: 'src/storage/sqlite/writerThread.ts' },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts' } },
  sourcemap: true,
  clean: true,
  target: 'node24',
  // There is no `sqlite` without it.
  removeNodeProtocol: false,
})
