import Hummingbird
import Yams
