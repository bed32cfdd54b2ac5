import { parseServiceConfig, readServerSecrets } from '@keyrail/gateway'
import { expect, test } from 'vitest'
import { withConfig } from './withConfig.ts'

test('the hint names the place to fix: the environment or the config', async () => {
  const file = import.meta.filename
  await expect(withConfig(file, () => readServerSecrets({}))).rejects.toMatchObject({
    message: expect.stringContaining('KEYRAIL_SECRET is missing'),
    hint: expect.stringMatching(/^change the environment; /),
    exitCode: 2,
  })
  await expect(withConfig(file, () => parseServiceConfig({}))).rejects.toMatchObject({
    hint: expect.stringContaining(`edit ${file}; `),
  })
  await expect(withConfig(`${file}.missing`, () => parseServiceConfig({}))).rejects.toMatchObject({
    hint: expect.stringContaining(
      'write it as on the docs page "Running the service", or use another config with --config FILE; ',
    ),
  })
})
