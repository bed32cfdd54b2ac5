import { arguedFor, facesOf, runAdapterCase } from '@keyrail/core/test/adapterVectors.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { web3Subject } from '@keyrail/core/test/web3Face.ts'
import { adapters } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { KeyrailProvider } from '../src/index.ts'

const subject = web3Subject('@keyrail/web3', (target) => {
  const provider = new KeyrailProvider(targetOptions(target))
  return { provider, aborts: true, close: provider.disconnect }
})

describe.each(adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', (oneCase) => {
  test.each(facesOf(oneCase))('through the %s face', async (face) => {
    const { problems, leaks } = await runAdapterCase(subject, oneCase, { face })
    expect({ problems, leaks }).toEqual({
      problems: arguedFor(oneCase.name, subject.name, face)?.problems ?? [],
      leaks: [],
    })
  })
})
