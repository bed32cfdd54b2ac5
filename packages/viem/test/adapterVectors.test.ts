import { arguedFor, facesOf, runAdapterCase } from '@keyrail/core/test/adapterVectors.ts'
import { targetOptions } from '@keyrail/core/test/targetOptions.ts'
import { viemSubject } from '@keyrail/core/test/viemFace.ts'
import { adapters } from '@keyrail/vectors'
import { describe, expect, test } from 'vitest'
import { keyrail } from '../src/index.ts'

const subject = viemSubject('@keyrail/viem', (target) => ({
  transport: keyrail(targetOptions({ ...target, signal: undefined })),
}))

describe.each(adapters.cases.filter(({ appliesTo }) => appliesTo.includes('ts')))('$name', (oneCase) => {
  test.each(facesOf(oneCase))('through the %s face', async (face) => {
    const { problems, leaks } = await runAdapterCase(subject, oneCase, { face })
    expect({ problems, leaks }).toEqual({
      problems: arguedFor(oneCase.name, subject.name, face)?.problems ?? [],
      leaks: [],
    })
  })
})
