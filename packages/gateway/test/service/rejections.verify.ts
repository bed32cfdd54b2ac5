import { clusters } from './places.ts'
import { testRejections } from './rejectionTests.ts'

for (const cluster of clusters) testRejections(cluster)
