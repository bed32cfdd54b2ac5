import { clusters, sqlite } from './places.ts'
import { testRejections } from './rejectionTests.ts'

for (const place of [sqlite, ...clusters]) testRejections(place)
