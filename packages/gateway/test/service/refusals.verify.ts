import { test } from 'vitest'
import { cluster } from './places.ts'
import { testRefusals } from './refusalTests.ts'

if (cluster === undefined) test.skip('needs PostgreSQL and Redis', () => {})
else testRefusals(cluster)
