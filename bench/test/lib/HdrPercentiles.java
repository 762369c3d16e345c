// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.HdrHistogram.Histogram;

/**
 * Reads HdrHistogram strings, one per line, and prints the percentiles that the reference
 * implementation computes from each, in units of 1000, followed by an empty line.
 */
class HdrPercentiles {
	public static void main(String[] arguments) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(line));
			Histogram.decodeFromCompressedByteBuffer(bytes, 1)
				.outputPercentileDistribution(System.out, 5, 1000.0);
			System.out.println();
		}
	}
}
