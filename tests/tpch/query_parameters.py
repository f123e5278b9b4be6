"""Random parameters of the 22 TPC-H queries, from the domains in the section "Substitution Parameters" of each query in the
specification.

`random_parameters` returns, for one query, the replacements of the validation parameters in its file."""

NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
SHIP_MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
TYPE_SYLLABLES = (("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"), ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
                  ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"))
CONTAINER_SYLLABLES = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))
COMMENT_WORDS = (("special", "pending", "unusual", "express"), ("packages", "requests", "accounts", "deposits"))
COLORS = """almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon chocolate coral
    cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot
    indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy olive
    orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke
    snow spring steel tan thistle tomato turquoise violet wheat white yellow""".split()


class Chooser:
    """Values of the specification's domains. Everything follows from the given random.Random."""

    def __init__(self, random, scale):
        self.random = random
        self.scale = float(scale)

    def number(self, low, high):
        return self.random.randint(low, high)

    def one_of(self, values):
        return self.random.choice(list(values))

    def some_of(self, values, count):
        """Distinct values."""
        return self.random.sample(list(values), count)

    def words(self, lists):
        return [self.one_of(words) for words in lists]

    def region(self):
        return self.one_of(NATIONS)

    def nations(self, count=1):
        return self.some_of((nation for nations in NATIONS.values() for nation in nations), count)

    def brand(self):
        return f"Brand#{self.number(1, 5)}{self.number(1, 5)}"

    def first_of_month(self, first, last):
        """From the first to the last (year, month)."""
        months = self.number(first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1)
        return f"{months // 12}-{months % 12 + 1:02}-01"

    def first_of_year(self):
        return f"{self.number(1993, 1997)}-01-01"


def q01(choose):
    return {"'90'": f"'{choose.number(60, 120)}'"}


def q02(choose):
    return {"p_size = 15": f"p_size = {choose.number(1, 50)}", "BRASS": choose.one_of(TYPE_SYLLABLES[2]), "EUROPE": choose.region()}


def q03(choose):
    return {"BUILDING": choose.one_of(SEGMENTS), "1995-03-15": f"1995-03-{choose.number(1, 31):02}"}


def q04(choose):
    return {"1993-07-01": choose.first_of_month((1993, 1), (1997, 10))}


def q05(choose):
    return {"ASIA": choose.region(), "1994-01-01": choose.first_of_year()}


def q06(choose):
    return {"1994-01-01": choose.first_of_year(), "0.06": f"0.0{choose.number(2, 9)}", "< 24": f"< {choose.number(24, 25)}"}


def q07(choose):
    first, second = choose.nations(2)
    return {"FRANCE": first, "GERMANY": second}


def q08(choose):
    region = choose.region()
    return {"BRAZIL": choose.one_of(NATIONS[region]), "AMERICA": region, "ECONOMY ANODIZED STEEL": " ".join(choose.words(TYPE_SYLLABLES))}


def q09(choose):
    return {"green": choose.one_of(COLORS)}


def q10(choose):
    return {"1993-10-01": choose.first_of_month((1993, 2), (1995, 1))}


def q11(choose):
    return {"GERMANY": choose.nations()[0], "* 0.0001": f"* {0.0001 / choose.scale:.10f}"}


def q12(choose):
    first, second = choose.some_of(SHIP_MODES, 2)
    return {"MAIL": first, "SHIP": second, "1994-01-01": choose.first_of_year()}


def q13(choose):
    first, second = choose.words(COMMENT_WORDS)
    return {"special": first, "requests": second}


def q14(choose):
    return {"1995-09-01": choose.first_of_month((1993, 1), (1997, 12))}


def q15(choose):
    return {"1996-01-01": choose.first_of_month((1993, 1), (1997, 10))}


def q16(choose):
    sizes = ", ".join(map(str, choose.some_of(range(1, 51), 8)))
    return {"Brand#45": choose.brand(), "MEDIUM POLISHED": " ".join(choose.words(TYPE_SYLLABLES[:2])), "49, 14, 23, 45, 19, 3, 36, 9": sizes}


def q17(choose):
    return {"Brand#23": choose.brand(), "MED BOX": " ".join(choose.words(CONTAINER_SYLLABLES))}


def q18(choose):
    return {"300": str(choose.number(312, 315))}


def q19(choose):
    return {
        "Brand#12": choose.brand(), "Brand#23": choose.brand(), "Brand#34": choose.brand(),
        "l_quantity >= 1 and l_quantity <= 1 + 10": "l_quantity >= {0} and l_quantity <= {0} + 10".format(choose.number(1, 10)),
        "l_quantity >= 10 and l_quantity <= 10 + 10": "l_quantity >= {0} and l_quantity <= {0} + 10".format(choose.number(10, 20)),
        "l_quantity >= 20 and l_quantity <= 20 + 10": "l_quantity >= {0} and l_quantity <= {0} + 10".format(choose.number(20, 30)),
    }


def q20(choose):
    return {"forest": choose.one_of(COLORS), "1994-01-01": choose.first_of_year(), "CANADA": choose.nations()[0]}


def q21(choose):
    return {"SAUDI ARABIA": choose.nations()[0]}


def q22(choose):
    # A phone number starts with the nation's key plus 10.
    codes = ", ".join(f"'{code}'" for code in choose.some_of(range(10, 35), 7))
    return {"'13', '31', '23', '29', '30', '18', '17'": codes}


PARAMETERS = (q01, q02, q03, q04, q05, q06, q07, q08, q09, q10, q11, q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22)


def random_parameters(number, random, scale):
    """{text in the file of the query: text for this variant}"""
    return PARAMETERS[number - 1](Chooser(random, scale))
