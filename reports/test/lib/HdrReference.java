// SPDX-License-Identifier: MIT
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.zip.Inflater;
import org.HdrHistogram.Histogram;

/**
 * Records the samples of hdr_samples with the reference implementation, and checks that the
 * strings of hdr_samples decode to the same histogram and, unpacked, the same bytes. Prints TAP.
 */
class HdrReference {
	static final long HIGHEST = (1L << 37) - 1;
	static final int DIGITS = 3;
	static final int OUTER_HEAD = 8;

	static Histogram wanted = new Histogram(HIGHEST, DIGITS);
	static int tests;
	static int failures;

	static byte[] encode(Histogram histogram) {
		ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
		return Arrays.copyOf(buffer.array(), histogram.encodeIntoByteBuffer(buffer));
	}

	static byte[] unpack(byte[] packed, int room) throws Exception {
		Inflater inflater = new Inflater();
		byte[] bytes = new byte[room];
		inflater.setInput(packed, OUTER_HEAD, packed.length - OUTER_HEAD);
		return Arrays.copyOf(bytes, inflater.inflate(bytes));
	}

	static String compare(String text) throws Exception {
		byte[] packed = Base64.getDecoder().decode(text);
		Histogram found = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(packed), 1);
		byte[] bytes = encode(wanted);
		if (found.getTotalCount() != wanted.getTotalCount())
			return found.getTotalCount() + " samples, not " + wanted.getTotalCount();
		if (found.getHighestTrackableValue() != HIGHEST)
			return "highest value " + found.getHighestTrackableValue();
		if (!found.equals(wanted))
			return "counts differ";
		if (!Arrays.equals(unpack(packed, bytes.length + 1), bytes))
			return "bytes differ";
		return null;
	}

	static void check(String name, String text) {
		String fault;
		try {
			fault = compare(text);
		} catch (Exception exception) {
			fault = exception.toString();
		}
		tests++;
		System.out.println((fault == null ? "ok " : "not ok ") + tests + " - " + name);
		if (fault != null) {
			failures++;
			System.out.println("# " + fault);
		}
		wanted.reset();
	}

	public static void main(String[] arguments) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String[] words = line.split(" ");
			if (words.length == 3)
				wanted.recordValueWithCount(Long.parseLong(words[1]), Long.parseLong(words[2]));
			else
				check(words[0], words[1]);
		}
		System.out.println("1.." + tests);
		System.exit(failures == 0 && tests > 0 ? 0 : 1);
	}
}
